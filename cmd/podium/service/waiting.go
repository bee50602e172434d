package service

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

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
	w.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
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
