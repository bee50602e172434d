package demo

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	mostSent   = 16      // mails that wait to be shown; the server takes more when one is
	mostLetter = 1 << 20 // bytes of one mail
)

// A mailServer is the mail server (SMTP) that answers go to, on a free port of
// 127.0.0.1. It delivers nothing: what it takes is shown.
type mailServer struct {
	sent chan []byte // whole mails, lines ended by CR LF

	server   *smtp.Server
	listener net.Listener
	served   chan error
}

func openMailServer(ctx context.Context) (*mailServer, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the mail server of the demonstration: %w", err)
	}
	m := &mailServer{sent: make(chan []byte, mostSent), listener: listener, served: make(chan error, 1)}
	m.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return envelope{m.sent}, nil }))
	m.server.Domain = "localhost"
	m.server.MaxMessageBytes = mostLetter
	m.server.EnableSMTPUTF8 = true
	m.server.ReadTimeout, m.server.WriteTimeout = time.Minute, time.Minute
	m.server.ErrorLog = log.New(io.Discard, "", 0)
	go func() { m.served <- m.server.Serve(listener) }()
	return m, nil
}

func (m *mailServer) port() int {
	address, isTCP := m.listener.Addr().(*net.TCPAddr)
	if !isTCP {
		return 0
	}
	return address.Port
}

// close ends all connections and waits until nothing is taken any more.
func (m *mailServer) close() error {
	err := m.server.Close()
	_ = m.listener.Close() // the server knows it only once its goroutine runs
	if served := <-m.served; err == nil {
		err = served
	}
	if err != nil {
		return fmt.Errorf("close the mail server of the demonstration: %w", err)
	}
	return nil
}

// An envelope is one connection: any sender and any recipients are right.
type envelope struct{ sent chan<- []byte }

func (envelope) Mail(string, *smtp.MailOptions) error { return nil }
func (envelope) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (e envelope) Data(r io.Reader) error {
	letter, err := io.ReadAll(r)
	if err == nil {
		e.sent <- letter
	}
	return err
}

func (envelope) Reset()        {}
func (envelope) Logout() error { return nil }
