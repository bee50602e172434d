// Package smtpsink is a real SMTP server that keeps what it is sent, and fails as it
// is told. It is for tests; it delivers nothing.
package smtpsink

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/mail"
	"slices"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// messageLimit bounds one message, in bytes.
const messageLimit = 32 << 20

var (
	// ErrCut is returned by OnMessage and ends the connection without an answer; the
	// message is not kept.
	ErrCut = errors.New("cut the connection")
	// ErrKeepAndCut is returned by OnMessage, keeps the message and ends the
	// connection without an answer: the sender cannot know.
	ErrKeepAndCut = errors.New("keep the message, cut the connection")
)

// A Refusal is returned by a callback and is what the server answers.
type Refusal struct {
	Code int // 400–599
	Text string
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%d %s", r.Code, r.Text) }

// A Message is one mail as it was received.
type Message struct {
	From     string   // of the envelope
	To       []string // of the envelope
	Data     []byte   // header and body, lines ended by CR LF
	User     string   // who was authenticated; empty for nobody
	TLS      bool     // whether the connection was encrypted
	Received time.Time
}

// Header returns the parsed header, or an empty one when it does not parse.
func (m *Message) Header() mail.Header {
	parsed, err := mail.ReadMessage(bytes.NewReader(m.Data))
	if err != nil {
		return mail.Header{}
	}
	return parsed.Header
}

// A Config shapes the server. The zero value takes everything on a free port of
// this machine.
type Config struct {
	// Address to listen on; empty means "127.0.0.1:0".
	Address string
	// Username and Password, when set, are required before a mail is taken.
	Username, Password string
	// Token, when set, offers XOAUTH2 instead of PLAIN and judges the token of
	// Username. It is called from several goroutines at once.
	Token func(token string) bool
	// TLS offers STARTTLS, or with Implicit speaks TLS from the first byte.
	TLS      *tls.Config
	Implicit bool
	// OnSender is asked for the sender of each envelope, OnRecipient for each
	// recipient, OnMessage for each message before
	// it is kept. They are called from several goroutines at once and may be nil.
	// An error other than those of this package is a refusal with 554.
	OnSender    func(address string) error
	OnRecipient func(address string) error
	OnMessage   func(message *Message) error
	// OnKept is told of each message right after it was kept, in order; it must
	// not call the server.
	OnKept func(message *Message)
}

// A Server keeps messages until it is closed and afterwards.
type Server struct {
	config   Config
	server   *smtp.Server
	listener net.Listener
	served   chan error

	mutex    sync.Mutex
	messages []Message
}

// Start listens and returns; call Close when done.
func Start(ctx context.Context, config Config) (*Server, error) {
	if config.Address == "" {
		config.Address = "127.0.0.1:0"
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", config.Address)
	if err != nil {
		return nil, fmt.Errorf("start the SMTP sink: %w", err)
	}
	sink := &Server{config: config, listener: listener, served: make(chan error, 1)}
	sink.server = smtp.NewServer(smtp.BackendFunc(sink.newSession))
	sink.server.Domain = "localhost"
	sink.server.MaxMessageBytes = messageLimit
	sink.server.MaxRecipients = 100
	sink.server.AllowInsecureAuth = true
	sink.server.EnableSMTPUTF8 = true
	sink.server.ReadTimeout = time.Minute
	sink.server.WriteTimeout = time.Minute
	sink.server.ErrorLog = log.New(io.Discard, "", 0)
	if config.TLS != nil && config.Implicit {
		listener = tls.NewListener(listener, config.TLS)
	} else {
		sink.server.TLSConfig = config.TLS
	}
	go func() {
		sink.served <- sink.server.Serve(listener)
		close(sink.served) // whoever closes it once more does not wait
	}()
	return sink, nil
}

// Host returns the address that the server listens on.
func (s *Server) Host() string { return s.address().IP.String() }

// Port returns the port that the server listens on.
func (s *Server) Port() int { return s.address().Port }

func (s *Server) address() *net.TCPAddr {
	address, isTCP := s.listener.Addr().(*net.TCPAddr)
	if !isTCP {
		return &net.TCPAddr{}
	}
	return address
}

// Messages returns what was kept so far, in order.
func (s *Server) Messages() []Message {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.messages)
}

// Close ends all connections and waits until nothing is accepted any more.
func (s *Server) Close() error {
	err := s.server.Close()
	// The server knows its listener only once its goroutine runs.
	_ = s.listener.Close()
	if served := <-s.served; err == nil {
		err = served
	}
	if err != nil {
		return fmt.Errorf("close the SMTP sink: %w", err)
	}
	return nil
}

func (s *Server) keep(message *Message) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.messages = append(s.messages, *message)
	if s.config.OnKept != nil {
		s.config.OnKept(message)
	}
}

func (s *Server) newSession(connection *smtp.Conn) (smtp.Session, error) {
	return &session{sink: s, connection: connection}, nil
}

// A session is one connection; it is for one goroutine.
type session struct {
	sink       *Server
	connection *smtp.Conn
	user       string
	from       string
	to         []string
}

var _ smtp.AuthSession = (*session)(nil)

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string {
	if s.sink.config.Username == "" {
		return nil
	}
	if s.sink.config.Token != nil {
		return []string{xoauth2}
	}
	return []string{sasl.Plain}
}

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	if s.sink.config.Token != nil {
		return &tokenServer{session: s}, nil
	}
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != s.sink.config.Username || password != s.sink.config.Password {
			return smtp.ErrAuthFailed
		}
		s.user = username
		return nil
	}), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.sink.config.Username != "" && s.user == "" {
		return smtp.ErrAuthRequired
	}
	if s.sink.config.OnSender != nil {
		if err := s.sink.config.OnSender(from); err != nil {
			return answer(err)
		}
	}
	s.from, s.to = from, nil
	return nil
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.sink.config.OnRecipient != nil {
		if err := s.sink.config.OnRecipient(to); err != nil {
			return answer(err)
		}
	}
	s.to = append(s.to, to)
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	_, encrypted := s.connection.TLSConnectionState()
	message := &Message{
		From: s.from, To: slices.Clone(s.to), Data: data,
		User: s.user, TLS: encrypted, Received: time.Now(),
	}
	if s.sink.config.OnMessage != nil {
		err = s.sink.config.OnMessage(message)
	}
	if err == nil || errors.Is(err, ErrKeepAndCut) {
		s.sink.keep(message)
	}
	if errors.Is(err, ErrCut) || errors.Is(err, ErrKeepAndCut) {
		return s.connection.Close()
	}
	return answer(err)
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.from, s.to = "", nil }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// answer turns a callback's error into the server's reply.
func answer(err error) error {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		class := refusal.Code / 100
		return &smtp.SMTPError{Code: refusal.Code, EnhancedCode: smtp.EnhancedCode{class, 0, 0}, Message: refusal.Text}
	}
	return err
}
