package service

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus/embedded/recovery"
	"podium/cmd/podium/config"
)

// TestLossIsToldToMany: many ask at once for the health of a ledger that is damaged.
func TestLossIsToldToMany(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	settings := &config.Config{}
	settings.HTTP.Listen = address
	lost := &recovery.LossError{Data: strings.Repeat("d", 13), Losses: []recovery.Loss{{Stream: "PODIUM_0", Cause: recovery.Missing, First: 1, Last: 2}}}
	go func() { ended <- ServeLoss(ctx, settings, lost, zerolog.Nop()) }()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					continue // it does not listen yet
				}
				body, err := io.ReadAll(response.Body)
				if err = errors.Join(err, response.Body.Close()); err != nil || !strings.HasSuffix(string(body), "}\n") {
					t.Errorf("it says %s, %v", body, err)
				}
			}
		})
	}
	all.Wait()
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
