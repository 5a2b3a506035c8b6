//go:build !cgo

package llama

// Without cgo everything above compiles and what needs llama.cpp says so.

const (
	Name   = "llama.cpp"
	Commit = "none"
)

type (
	Model   struct{ Facts Facts }
	Context struct{ Cells, Batch int }
	Row     struct{}
)

func BlockSize(int) (values, bytes int)                    { return 0, 0 }
func MaxSequences() int                                    { return 0 }
func Build() (kind, cpu string)                            { return "none", "" }
func Load(string, LoadParams) (*Model, error)              { return nil, ErrUnavailable }
func Read([]float32, Query) (Answer, error)                { return Answer{}, ErrUnavailable }
func BuiltinChat(string, [][2]string, bool) (string, bool) { return "", false }

func (*Model) Free()                                      {}
func (*Model) Tokenize(string, bool) ([]int32, error)     { return nil, ErrUnavailable }
func (*Model) Piece(int32) []byte                         { return nil }
func (*Model) NewContext(ContextParams) (*Context, error) { return nil, ErrUnavailable }

func (*Context) Free()                     {}
func (*Context) SetThreads(int)            {}
func (*Context) CPUSeconds() float64       { return 0 }
func (*Context) Late(bool)                 {}
func (*Context) Stop(bool)                 {}
func (*Context) Decode(Batch) error        { return ErrUnavailable }
func (*Context) Row(int) (Row, error)      { return Row{}, ErrUnavailable }
func (*Context) CopySequence(int, []int32) {}
func (*Context) Remove(int, int) bool      { return false }
func (Row) Copy() []float32                { return nil }
func (Row) Read(Query) (Answer, error)     { return Answer{}, ErrUnavailable }
