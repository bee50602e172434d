package service

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"podium/ingest/chat"
)

// webServer serves the chat door and the health page.
type webServer struct {
	server *http.Server
}

// capabilityKeyBytes is the size of the key that signs run URLs.
const capabilityKeyBytes = 32

func (s *Service) openWeb() (*webServer, error) {
	key, err := capabilityKey(CredentialsDir(s.settings.Ledger.Data))
	if err != nil {
		return nil, err
	}
	channels := make(map[string]chat.Channel, len(s.settings.Chat.Channels))
	for name, channel := range s.settings.Chat.Channels {
		made := chat.Channel{Profile: channel.Profile, Token: string(channel.Token)}
		for _, secret := range channel.Secrets {
			made.Secrets = append(made.Secrets, string(secret))
		}
		channels[name] = made
	}
	door, err := chat.New(chat.Config{Channels: channels, CapabilityKey: key}, s.Ledger.Core, s.log)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", door.Handler())
	mux.HandleFunc("GET /healthz", s.health)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
	server.RegisterOnShutdown(door.Close)
	return &webServer{server: server}, nil
}

// health answers 200 when the ledger answers and every mailbox was looked at
// lately, else 503, with the parts (G-35).
func (s *Service) health(w http.ResponseWriter, r *http.Request) {
	type mailbox struct {
		Account     string    `json:"account"`
		Connected   bool      `json:"connected"`
		LastSuccess time.Time `json:"last_success"`
		Lag         int       `json:"lag"`
		Problem     string    `json:"problem,omitempty"`
	}
	report := struct {
		OK        bool      `json:"ok"`
		Ledger    string    `json:"ledger"`
		Mailboxes []mailbox `json:"mailboxes"`
	}{OK: true, Ledger: "ok", Mailboxes: []mailbox{}}
	ctx, stop := context.WithTimeout(r.Context(), 2*time.Second)
	defer stop()
	if _, err := s.Ledger.Core.State(ctx, "PODIUM_0"); err != nil {
		report.OK, report.Ledger = false, "does not answer"
	}
	for _, door := range s.doors {
		status := door.Status()
		report.OK = report.OK && status.Connected
		report.Mailboxes = append(report.Mailboxes, mailbox{
			Account: status.Account, Connected: status.Connected,
			LastSuccess: status.LastSuccess, Lag: status.Lag, Problem: status.Problem,
		})
	}
	w.Header().Set("Content-Type", "application/json")
	if !report.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err := json.NewEncoder(w).Encode(report); err != nil {
		s.log.Debug().Err(err).Msg("health report not delivered")
	}
}

// serve answers until ctx ends, then ends the event streams and waits for
// answers under way.
func (w *webServer) serve(ctx context.Context, listener net.Listener) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	w.server.BaseContext = func(net.Listener) context.Context { return base }
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		bounded, stop := context.WithTimeout(base, drainTimeout)
		defer stop()
		stopped <- w.server.Shutdown(bounded)
	}()
	if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve chat messages: %w", err)
	}
	return <-stopped
}

// capabilityKey reads the key that signs run URLs, and makes it the first time.
func capabilityKey(dir string) ([]byte, error) {
	file := filepath.Join(dir, "capability.key")
	key, err := os.ReadFile(file)
	if err == nil && len(key) == capabilityKeyBytes {
		return key, nil
	}
	if err == nil {
		return nil, fmt.Errorf("%s is damaged: remove it to make a new one; run URLs given out before will not open any more", file)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	key = make([]byte, capabilityKeyBytes)
	if _, err = rand.Read(key); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return key, os.WriteFile(file, key, 0o600)
}
