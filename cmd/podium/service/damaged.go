package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded/recovery"
	"podium/cmd/podium/config"
)

// sayLossEvery is how often the log repeats why nothing is done.
const sayLossEvery = time.Minute

// ServeLoss answers in the place of a service that does not start, because its ledger has
// lost something: /healthz says what, and everything else is refused for the time being. It
// returns when ctx ends.
func ServeLoss(ctx context.Context, settings *config.Config, lost *recovery.LossError, log zerolog.Logger) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", settings.HTTP.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	report, err := json.Marshal(struct {
		OK     bool            `json:"ok"`
		Ledger string          `json:"ledger"`
		Losses []recovery.Loss `json:"losses"`
	}{Ledger: lost.Error(), Losses: lost.Losses})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	report = append(report, '\n')
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the ledger is damaged, and nothing is taken; /healthz says more", http.StatusServiceUnavailable)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write(report) // whoever asked may be gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	said := time.NewTicker(sayLossEvery)
	defer said.Stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	for {
		log.Error().Int("losses", len(lost.Losses)).Str("first", lost.Losses[0].String()).Msg("the ledger has lost something, so that nothing is done; podium ledger check says all of it")
		select {
		case <-said.C:
		case err = <-served:
			if errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			return err
		}
	}
}
