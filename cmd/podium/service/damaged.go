package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
}
