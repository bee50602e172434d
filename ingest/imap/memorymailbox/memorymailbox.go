// Package memorymailbox is an IMAP server with one mailbox, inside this process
// and on loopback only. It is what `podium demo` runs on; its mail ends with it.
package memorymailbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
)

const (
	inbox = "INBOX"

	idlePoll = 20 * time.Millisecond
)

var errSession = errors.New("the session lacks what IMAP4rev2 asks for")

// A Server is one mailbox. It is safe for use by several goroutines at once.
type Server struct {
	Username string
	Password string

	user     *imapmemserver.User
	server   *imapserver.Server
	listener net.Listener
	serving  sync.WaitGroup
	served   error
}

// Start serves an empty INBOX and an empty folder Sent of one user on a free port of 127.0.0.1, with IDLE.
func Start(ctx context.Context, username, password string) (*Server, error) {
	user := imapmemserver.NewUser(username, password)
	for _, folder := range [...]string{inbox, "Sent"} {
		if err := user.Create(folder, nil); err != nil {
			return nil, fmt.Errorf("create mailbox: %w", err)
		}
	}
	accounts := imapmemserver.New()
	accounts.AddUser(user)
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve mailbox: %w", err)
	}
	s := &Server{Username: username, Password: password, user: user, listener: listener}
	s.server = imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			inner, ok := accounts.NewSession().(imapserver.SessionIMAP4rev2)
			if !ok {
				return nil, nil, errSession
			}
			return session{inner}, nil, nil
		},
		Caps:         imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapUIDPlus: {}, imap.CapMove: {}},
		InsecureAuth: true,
		Logger:       log.New(io.Discard, "", 0),
	})
	s.serving.Go(func() { s.served = s.server.Serve(listener) })
	return s, nil
}

// Host and port of the server.
func (s *Server) Host() string { return "127.0.0.1" }

// Port of the server.
func (s *Server) Port() int {
	address, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return address.Port
}

// Deliver puts a mail into INBOX.
func (s *Server) Deliver(raw []byte) error {
	if _, err := s.user.Append(inbox, literal{bytes.NewReader(raw)}, &imap.AppendOptions{}); err != nil {
		return fmt.Errorf("deliver mail: %w", err)
	}
	return nil
}

// Close ends all connections.
func (s *Server) Close() error {
	err := s.server.Close()
	s.serving.Wait()
	return errors.Join(err, s.served)
}

// A session announces mail that came between the last command and IDLE, which
// the library's own IDLE keeps to itself until more comes.
type session struct{ imapserver.SessionIMAP4rev2 }

// Idle implements imapserver.Session.
func (s session) Idle(w *imapserver.UpdateWriter, stop <-chan struct{}) error {
	ticker := time.NewTicker(idlePoll)
	defer ticker.Stop()
	for {
		if err := s.Poll(w, true); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-stop:
			return nil
		}
	}
}

// A literal is bytes of known size.
type literal struct{ *bytes.Reader }

// Size implements imap.LiteralReader.
func (l literal) Size() int64 { return l.Reader.Size() }
