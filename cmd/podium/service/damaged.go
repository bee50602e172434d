package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/bus/embedded/recovery"
	"podium/cmd/podium/config"
)

const (
	// sayLossEvery is how often the log repeats why nothing is done.
	sayLossEvery = time.Minute
	// seeMendedEvery is how often it is looked whether somebody has changed the ledger.
	seeMendedEvery = 2 * time.Second
)

// ErrLedgerChanged says that somebody has repaired a damaged ledger, so that a start is worth
// another try.
var ErrLedgerChanged = errors.New("the ledger was changed")

// ServeLoss answers in the place of a service that does not start, because its ledger has
// lost something: /healthz says what, and everything else is refused for the time being. It
// returns when ctx ends, and with ErrLedgerChanged once the ledger's files are others and
// nobody is at work on them.
func ServeLoss(ctx context.Context, settings *config.Config, lost *recovery.LossError, log zerolog.Logger) error {
	mended := embedded.WatchFiles(settings.Ledger.Data) // from here on a repair is noticed
	server := lossServer(lost, log)
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", settings.HTTP.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	said, look := time.NewTicker(sayLossEvery), time.NewTicker(seeMendedEvery)
	defer said.Stop()
	defer look.Stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	say := func() {
		log.Error().Int("losses", len(lost.Losses)).Str("first", lost.Losses[0].String()).Msg("the ledger has lost something, so that nothing is done; podium ledger check says all of it")
	}
	say()
	for {
		select {
		case <-said.C:
			say()
		case <-look.C:
			if mended() {
				return errors.Join(ErrLedgerChanged, server.Close(), closed(<-served))
			}
		case err = <-served:
			return closed(err)
		}
	}
}

// closed is nil for a server that was closed.
func closed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// lossServer says what is lost, and refuses everything else.
func lossServer(lost *recovery.LossError, log zerolog.Logger) *http.Server {
	report := struct {
		OK     bool            `json:"ok"`
		Ledger string          `json:"ledger"`
		Losses []recovery.Loss `json:"losses"`
	}{Ledger: lost.Error(), Losses: lost.Losses}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the ledger is damaged, and nothing is taken; /healthz says more", http.StatusServiceUnavailable)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, false, report, log) })
	return &http.Server{Handler: mux, ErrorLog: errorLog(log), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
}

// waitingAfter is how long a start may take before it is served that it waits.
const waitingAfter = 2 * time.Second

// A waitingPage answers in the place of a service whose start takes long: /healthz says with 503 what it
// waits for, and all else is refused for the time being.
type waitingPage struct {
	address string
	reason  func() string
	log     zerolog.Logger
	timer   *time.Timer

	mu     sync.Mutex
	server *http.Server
	served chan struct{}
	ended  bool
}

// beginWaiting serves the page when end was not called within a time.
func beginWaiting(after time.Duration, address string, reason func() string, log zerolog.Logger) *waitingPage {
	w := &waitingPage{address: address, reason: reason, log: log}
	w.timer = time.AfterFunc(after, w.serve)
	return w
}

func (w *waitingPage) serve() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(context.Background(), "tcp", w.address)
	if err != nil {
		w.log.Warn().Err(err).Msg("that the start waits cannot be shown on http.listen")
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Retry-After", "5")
		http.Error(to, "podium is starting, and takes nothing yet; /healthz says more", http.StatusServiceUnavailable)
	})
	mux.HandleFunc("GET /healthz", func(to http.ResponseWriter, _ *http.Request) {
		answer(to, false, struct {
			OK     bool   `json:"ok"`
			Ledger string `json:"ledger"`
		}{Ledger: w.reason()}, w.log)
	})
	w.server = &http.Server{Handler: mux, ErrorLog: errorLog(w.log), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	w.served = make(chan struct{})
	go func() {
		defer close(w.served)
		_ = w.server.Serve(listener) // until it is closed
	}()
}

// end frees the address. It may be called again.
func (w *waitingPage) end() {
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended = true; w.server != nil {
		_ = w.server.Close()
		<-w.served
		w.server = nil
	}
}
