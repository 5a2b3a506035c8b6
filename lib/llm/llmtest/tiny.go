package llmtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Tiny describes a model of the llama architecture with random float32
// weights. The zero value has the seven tokens of Letters, one layer and a
// file of about 40 KB.
//
// Its next-token distribution depends on the whole prefix, and it is neither
// flat nor sharp: with the default Spread the most probable token often has
// 0.3 to 0.5, the least 0.01.
type Tiny struct {
	Seed uint64
	// Pieces are the tokens' texts; nil means Letters. Those in Ends are end
	// tokens.
	Pieces []string
	// Ends are the ids of the end tokens, at most two: the first is the
	// file's EOS, the second its end of turn. Nil means the last two.
	Ends []int
	// Bytes makes a vocabulary that has a token for every byte after <unk>,
	// <s> and </s>, then Pieces, so that it can hold any text. Ends is not
	// used then. A space is put before a text, as in the first Llama models.
	Bytes bool
	// BOS makes the model want <s> first; for Bytes.
	BOS bool

	Layers  int     // 0 means 1
	Width   int     // of the embedding, a multiple of 16; 0 means 32
	Context int     // that it was trained for; 0 means 512
	Spread  float64 // standard deviation of the logits; 0 means 1.5

	// Quantised packs the matrices as Q8_0; Width must be a multiple of 32.
	Quantised bool

	Template     string // chat template; empty means none
	Architecture string // empty means "llama"; another will not load
	NoTokenizer  bool   // leave the vocabulary's text out
	Part, Parts  int    // claim to be a part, counted from 1, of a split model
}

// Letters are the tokens of the zero Tiny; the last two end a completion.
var Letters = []string{"a", "b", "c", "d", "e", "</s>", "<eot>"}

// Token types of GGUF's tokenizer.ggml.token_type.
const (
	normal  int32 = 1
	unknown int32 = 2
	control int32 = 3
	byteTok int32 = 6
)

// vocabulary is what the tokenizer keys of a file say.
type vocabulary struct {
	pieces []string
	types  []int32
	scores []float32
	bos    uint32
	ends   []int
}

// none is a token id that llama.cpp takes for "there is no such token".
const none = math.MaxUint32

func (t Tiny) vocabulary() vocabulary {
	v := vocabulary{bos: none}
	add := func(piece string, kind int32, score float32) {
		v.pieces = append(v.pieces, piece)
		v.types = append(v.types, kind)
		v.scores = append(v.scores, score)
	}
	if t.Bytes {
		v.bos, v.ends = 1, []int{2}
		add("<unk>", unknown, 0)
		add("<s>", control, 0)
		add("</s>", control, 0)
		for b := range 256 {
			add(fmt.Sprintf("<0x%02X>", b), byteTok, 0)
		}
	}
	pieces := t.Pieces
	if pieces == nil {
		pieces = Letters
		if t.Bytes {
			pieces = pieces[:len(pieces)-2]
		}
	}
	for i, p := range pieces {
		kind := normal
		if strings.HasPrefix(p, "<|") && t.Bytes {
			kind = control
		}
		// Longer and earlier pieces merge first. SentencePiece writes a space
		// as U+2581.
		add(strings.ReplaceAll(p, " ", "\u2581"), kind, float32(-i))
	}
	if t.Bytes {
		return v
	}
	v.ends = t.Ends
	if v.ends == nil {
		v.ends = []int{len(pieces) - 2, len(pieces) - 1}
	}
	for _, e := range v.ends {
		v.types[e] = control
	}
	return v
}

// File returns the bytes of the model's GGUF file. Equal descriptions give
// equal bytes.
func (t Tiny) File() []byte {
	width, layers, context, spread := t.Width, t.Layers, t.Context, t.Spread
	if width == 0 {
		width = 32
	}
	if layers == 0 {
		layers = 1
	}
	if context == 0 {
		context = 512
	}
	if spread == 0 {
		spread = 1.5
	}
	const heads = 2
	v := t.vocabulary()
	g := t.metadata(v, width, layers, context, heads)

	rng := rand.New(rand.NewPCG(t.Seed, 0x7469_6e79))
	matrix := func(name string, sd float64, in, out int) {
		data := make([]float32, in*out)
		for i := range data {
			data[i] = float32(sd * rng.NormFloat64())
		}
		if t.Quantised {
			g.addQ8(name, data, uint64(in), uint64(out))
		} else {
			g.add(name, data, uint64(in), uint64(out))
		}
	}
	ones := func(name string) {
		data := make([]float32, width)
		for i := range data {
			data[i] = 1
		}
		g.add(name, data, uint64(width))
	}
	unit := 1 / math.Sqrt(float64(width))
	matrix("token_embd.weight", 1, width, len(v.pieces))
	for l := range layers {
		blk := fmt.Sprintf("blk.%d.", l)
		ones(blk + "attn_norm.weight")
		matrix(blk+"attn_q.weight", 2*unit, width, width) // sharper attention than 1/√d
		matrix(blk+"attn_k.weight", 2*unit, width, width)
		matrix(blk+"attn_v.weight", 2*unit, width, width)
		matrix(blk+"attn_output.weight", unit, width, width)
		ones(blk + "ffn_norm.weight")
		matrix(blk+"ffn_gate.weight", unit, width, width)
		matrix(blk+"ffn_up.weight", unit, width, width)
		matrix(blk+"ffn_down.weight", unit, width, width)
	}
	ones("output_norm.weight")
	// The norm before it gives every coordinate a mean square of 1.
	matrix("output.weight", spread*unit, width, len(v.pieces))
	return g.bytes()
}

func (t Tiny) metadata(v vocabulary, width, layers, context, heads int) *gguf {
	arch := t.Architecture
	if arch == "" {
		arch = "llama"
	}
	g := new(gguf)
	g.set("general.architecture", arch)
	g.set("general.name", "tiny")
	fileType := uint32(0) // F32
	if t.Quantised {
		fileType = 7 // mostly Q8_0
	}
	g.set("general.file_type", fileType)
	if t.Parts > 0 {
		g.set("split.no", uint32(t.Part-1))
		g.set("split.count", uint32(t.Parts))
	}
	g.set(arch+".context_length", uint32(context))
	g.set(arch+".embedding_length", uint32(width))
	g.set(arch+".block_count", uint32(layers))
	g.set(arch+".feed_forward_length", uint32(width))
	g.set(arch+".attention.head_count", uint32(heads))
	g.set(arch+".attention.layer_norm_rms_epsilon", float32(1e-5))
	g.set(arch+".rope.dimension_count", uint32(width/heads))
	g.set(arch+".vocab_size", uint32(len(v.pieces)))
	if t.NoTokenizer {
		g.set("tokenizer.ggml.model", "no_vocab")
		return g
	}
	g.set("tokenizer.ggml.model", "llama")
	g.set("tokenizer.ggml.tokens", v.pieces)
	g.set("tokenizer.ggml.scores", v.scores)
	g.set("tokenizer.ggml.token_type", v.types)
	g.set("tokenizer.ggml.bos_token_id", v.bos)
	g.set("tokenizer.ggml.unknown_token_id", uint32(none))
	g.set("tokenizer.ggml.add_bos_token", t.BOS)
	g.set("tokenizer.ggml.add_space_prefix", t.Bytes)
	for i, key := range []string{"eos", "eot"} {
		if i < len(v.ends) {
			g.set("tokenizer.ggml."+key+"_token_id", uint32(v.ends[i]))
		}
	}
	if t.Template != "" {
		g.set("tokenizer.chat_template", t.Template)
	}
	return g
}

// Write writes the model to a file of the test's temporary folder.
func Write(tb testing.TB, t Tiny) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, t.File(), 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}
