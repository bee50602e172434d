package service

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"podium/ingest/admission"
	"podium/ingest/problem"
)

// webServer serves the chat adapter and the health page.
type webServer struct {
	server *http.Server
	wait   func() // until nothing of the adapters works any more
}

func (s *Service) openWeb() (*webServer, error) {
	adapter, err := s.openChat()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	problem.Mount(mux, "/v1/", adapter.Handler())
	sources, err := s.mountAdapters(mux, adapter.Runs())
	if err != nil {
		return nil, err
	}
	entrance := admission.New(admission.Limits{Proxies: s.settings.HTTP.ProxyNetworks()})
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /health", s.agentsPage)
	mux.HandleFunc("GET /health/agents/{name}", s.agentPage)
	mux.Handle("GET /metrics", s.metrics(adapter, sources, entrance))
	silent := &silentConnections{connections: map[net.Conn]struct{}{}}
	server := &http.Server{
		Handler: problem.Exact(entrance.Handler(mux)), ConnContext: entrance.Connect,
		ConnState: func(connection net.Conn, state http.ConnState) {
			silent.note(connection, state)
			entrance.Note(connection, state)
		},
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		WriteTimeout:   5 * time.Minute, // a batch of events on a slow ledger; whoever waits or follows has more
		MaxHeaderBytes: 64 << 10, ErrorLog: errorLog(s.log),
	}
	server.RegisterOnShutdown(adapter.Close)
	server.RegisterOnShutdown(silent.close)
	return &webServer{server: server, wait: func() { adapter.Close(); adapter.Wait() }}, nil
}

// serve answers until ctx ends, then ends the event streams and waits for
// answers under way.
func (w *webServer) serve(ctx context.Context, listener net.Listener) error {
	defer w.wait()
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	w.server.BaseContext = func(net.Listener) context.Context { return base }
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		bounded, stop := context.WithTimeout(base, drainTimeout)
		defer stop()
		err := w.server.Shutdown(bounded)
		if errors.Is(err, context.DeadlineExceeded) { // whoever is so slow offers it again
			err = w.server.Close()
		}
		stopped <- err
	}()
	if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve chat messages: %w", err)
	}
	return <-stopped
}

// A serverLog takes what net/http and other libraries write for want of a caller to return it to, such as that no descriptor is
// left for another connection. It implements io.Writer.
type serverLog struct{ log zerolog.Logger }

// remoteAddress is that of a sender, which is personal.
var remoteAddress = regexp.MustCompile(`(?:\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+(?:%[^\]]*)?\])(?::\d+)?`)

// maxServerLine bounds one line, in bytes: a panic comes with its stack.
const maxServerLine = 8 << 10

// Write implements io.Writer: one call is one line of the log.
func (s serverLog) Write(line []byte) (int, error) {
	text := strings.ToValidUTF8(strings.TrimSpace(string(line[:min(len(line), maxServerLine)])), "")
	s.log.Warn().Str("reason", remoteAddress.ReplaceAllString(text, "an address")).Msg("a library reports a fault")
	return len(line), nil
}

// RedirectDefaultLog has the default logger of package log write lines of the log: libraries use it for want of another one.
func RedirectDefaultLog(to zerolog.Logger) {
	log.SetFlags(0)
	log.SetOutput(serverLog{to})
}

// errorLog returns a logger for http.Server.ErrorLog, whose default writes plain lines to standard error.
func errorLog(to zerolog.Logger) *log.Logger { return log.New(serverLog{to}, "", 0) }
