package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/history"
	"github.com/branchbook/branchbook/kernel/internal/session"
	"github.com/branchbook/branchbook/kernel/internal/socket"
	"github.com/branchbook/branchbook/kernel/internal/wire"
)

// Options says how [Serve] runs. Its zero value works.
type Options struct {
	// Command starts a worker; the default is this executable with the
	// argument "worker".
	Command []string
	Engine  string // one of [Engines]; the worker is told so by --engine=NAME
	Version string // of Branchbook, as kernel_info tells it
	// Models lists the names of models, which complete in calls of package llm.
	// It may be nil.
	Models func() []string
	Log    *slog.Logger
}

// Serve runs the kernel that a connection file describes until a front end
// shuts it down, ctx ends, the process gets SIGTERM, or the process that
// started it dies. Then no process of it is left. SIGINT interrupts the
// running cell.
func Serve(ctx context.Context, connectionFile string, opts Options) error {
	conn, err := wire.ReadConnection(connectionFile)
	if err != nil {
		return fmt.Errorf("kernel: serve: %w", err)
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if conn.Exposed {
		opts.Log.Warn("kernel: the connection file lets others read it: with its key they can run code here", "file", connectionFile)
	}
	// The goroutine that owns the sockets must not wait for a processor that
	// two busy ones hold: replies took 25 ms instead of 0.1.
	runtime.GOMAXPROCS(runtime.NumCPU() + 2)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	k := &front{codec: wire.NewCodec(conn.Key), log: opts.Log, ready: make(chan struct{})}
	hub, err := socket.Open(conn, k)
	if err != nil {
		return fmt.Errorf("kernel: serve: %w", err)
	}
	defer hub.Close()
	engine, why, err := ChooseEngine(opts.Engine)
	if err != nil {
		close(k.ready) // with no session: messages are dropped
		return fmt.Errorf("kernel: serve: %w", err)
	}
	// A Jupyter server names the notebook to the kernels that it starts.
	_, server := os.LookupEnv("JPY_SESSION_NAME")
	nb, err := newNotebook(RunnerOptions{Command: opts.Command, Engine: opts.Engine, Log: opts.Log, Models: opts.Models}, server)
	if err != nil {
		close(k.ready) // with no session: messages are dropped
		return fmt.Errorf("kernel: serve: %w", err)
	}
	k.session = session.New(nb, session.Config{
		Send: func(ch wire.Channel, m wire.Message) {
			if frames := k.encode(m); frames != nil {
				hub.Send(ch, frames)
			}
		},
		Info:    kernelInfo(opts.Version, engine, why),
		Connect: conn.Connect(),
		Log:     opts.Log,
		History: history.Open(history.File(), opts.Log),
	})
	close(k.ready)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go watchParent(ctx, cancel)
	go func() {
		for {
			select {
			case <-interrupts:
				k.session.Interrupt()
			case <-ctx.Done():
				return
			}
		}
	}()
	if err := k.session.Run(ctx); err != nil {
		return fmt.Errorf("kernel: serve: %w", err)
	}
	return nil
}

// front takes what the sockets bring to the session.
type front struct {
	codec   *wire.Codec
	log     *slog.Logger
	ready   chan struct{} // closed when session is set, or will not be
	session *session.Session

	drops      int // messages dropped since dropsSince
	dropsSince time.Time
}

// Receive drops what is no message of a client that has the key.
func (k *front) Receive(ch wire.Channel, frames [][]byte) {
	m, err := k.codec.Decode(frames)
	if err != nil {
		k.drop(ch, err)
		return
	}
	<-k.ready // for milliseconds, at the start
	if k.session != nil {
		k.session.Handle(ch, m)
	}
}

// A front logs maxDrops dropped messages in dropTime, and then their number.
const (
	maxDrops = 20
	dropTime = time.Minute
)

// drop logs a message that was dropped. Only Receive calls it.
func (k *front) drop(ch wire.Channel, err error) {
	if now := time.Now(); now.Sub(k.dropsSince) > dropTime {
		if more := k.drops - maxDrops; more > 0 {
			k.log.Warn("kernel: further messages were dropped", "messages", more)
		}
		k.drops, k.dropsSince = 0, now
	}
	if k.drops++; k.drops <= maxDrops {
		k.log.Warn("kernel: message dropped", "channel", ch, "err", err)
	}
}

// Subscribed welcomes a new subscriber.
func (k *front) Subscribed(topic []byte) [][]byte {
	<-k.ready
	if k.session == nil {
		return nil
	}
	m, err := k.session.Welcome(topic)
	if err != nil {
		k.log.Error("kernel: welcome", "err", err)
		return nil
	}
	return k.encode(m)
}

// encode returns nil for a message that cannot be sent.
func (k *front) encode(m wire.Message) [][]byte {
	frames, err := k.codec.Encode(m)
	if err != nil {
		k.log.Error("kernel: send", "err", err)
		return nil
	}
	return frames
}

// watchParent ends ctx when the process that started the kernel has died,
// which Jupyter names in JPY_PARENT_PID. A process 1 never dies before us,
// and one that cannot be seen from here (another namespace) is not watched.
func watchParent(ctx context.Context, cancel context.CancelCauseFunc) {
	pid, err := strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	if err != nil || pid <= 1 || !alive(pid) {
		return
	}
	child := os.Getppid() == pid
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// A dead parent's number may be another's already, a child's
			// parent changes when it dies.
			if !alive(pid) || child && os.Getppid() != pid {
				cancel(errors.New("kernel: the process that started it died"))
				return
			}
		}
	}
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// kernelInfo claims what works and no more.
func kernelInfo(version, engine, why string) wire.KernelInfoReply {
	if version == "" {
		version = "devel"
	}
	runs := "Cells run on " + engine + "."
	if why != "" { // another was asked for
		runs = strings.ToUpper(why[:1]) + why[1:] + "."
	}
	return wire.KernelInfoReply{
		Status:          "ok",
		ProtocolVersion: wire.Version,
		Implementation:  "branchbook", ImplementationVersion: version,
		LanguageInfo: languageInfo(engine),
		Banner: "Branchbook " + version + ": Go " + goVersion + " with a language-model laboratory.\n" +
			"llm, samplers, plot, nb and the standard library need no import. " + runs,
		HelpLinks: []wire.HelpLink{
			{Text: "Branchbook", URL: "https://github.com/branchbook/branchbook"},
			{Text: "Go standard library", URL: "https://pkg.go.dev/std"},
			{Text: "The Go language", URL: "https://go.dev/ref/spec"},
		},
		SupportedFeatures: []string{}, // neither subshells nor a debugger
	}
}

func languageInfo(engine string) wire.LanguageInfo {
	return wire.LanguageInfo{
		Name: "go", Version: goVersion, MIMEType: "text/x-go", FileExtension: ".go",
		PygmentsLexer: "go", CodeMirrorMode: "go", NBConvertExporter: "script", Engine: engine,
	}
}

// goVersion is the version of Go that cells are checked as.
var goVersion = strings.TrimPrefix(runtime.Version(), "go")
