package connection

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"podium/cleartext"
)

const (
	keepAliveIdle     = 15 * time.Second
	keepAliveInterval = 5 * time.Second
	keepAliveCount    = 4

	maxResults = 1 << 24 // UIDs that one search may return
)

// ChunkSize is how many bytes of a large message are fetched at once.
const ChunkSize = 8 << 20

// A client is the MailSource over go-imap v2. It asks for nothing but UID,
// INTERNALDATE, RFC822.SIZE and BODY.PEEK[]: one malformed ENVELOPE or
// BODYSTRUCTURE would end the connection, and servers do send them.
type client struct {
	conn      *watchedConn
	imap      *imapclient.Client
	config    Config
	announces bool
	announced atomic.Uint64
	heard     sniffer
	renew     time.Time
	wake      chan struct{} // has a value when something was announced since the last search
}

var _ MailSource = (*client)(nil)

// Dial connects and logs in.
func Dial(ctx context.Context, config Config) (MailSource, error) {
	config = config.WithDefaults()
	dialer := net.Dialer{
		Timeout: config.AnswerDeadline,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount,
		},
	}
	dialer.Control = config.control()
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(config.Host, strconv.Itoa(config.Port)))
	if err != nil {
		return nil, fmt.Errorf("connect to mail server: %w", err)
	}
	c := &client{conn: &watchedConn{Conn: conn, limit: config.AnswerDeadline}, config: config, wake: make(chan struct{}, 1)}
	if err := c.run(ctx, "connect", func() error { return c.greet(ctx) }); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.login(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// control judges addresses: by Control, and without TLS by what may go there readable.
func (c *Config) control() func(network, address string, conn syscall.RawConn) error {
	if c.Security != SecurityNone {
		return c.Control
	}
	readable := cleartext.Control(c.Cleartext)
	if c.Control == nil {
		return readable
	}
	return func(network, address string, conn syscall.RawConn) error {
		if err := c.Control(network, address, conn); err != nil {
			return err
		}
		return readable(network, address, conn)
	}
}

// greet protects the connection and waits for the greeting.
func (c *client) greet(ctx context.Context) error {
	options := &imapclient.Options{
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{Mailbox: c.notice},
		TLSConfig:             c.tlsConfig(),
		DebugWriter:           &c.heard,
	}
	switch c.config.Security {
	case SecurityTLS:
		protected := tls.Client(c.conn, options.TLSConfig)
		if err := protected.HandshakeContext(ctx); err != nil {
			return err
		}
		c.imap = imapclient.New(protected, options)
	case SecurityStartTLS:
		started, err := imapclient.NewStartTLS(c.conn, options)
		if err != nil {
			return err
		}
		c.imap = started
	case SecurityNone:
		c.imap = imapclient.New(c.conn, options)
	}
	return c.imap.WaitGreeting()
}

func (c *client) tlsConfig() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.config.TLS != nil {
		config = c.config.TLS.Clone()
	}
	config.ServerName = cmp.Or(config.ServerName, c.config.Host)
	return config
}

// notice runs while the client reads, so it only leaves a note.
func (c *client) notice(change *imapclient.UnilateralDataMailbox) {
	if change.NumMessages == nil {
		return
	}
	c.announced.Add(1)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run does one command: it ends with the context, with the deadline for
// commands, or when the server goes silent.
func (c *client) run(ctx context.Context, command string, do func() error) error {
	limited, cancel := context.WithTimeoutCause(ctx, c.config.CommandDeadline, ErrSilent)
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = c.conn.Close() }) // do then fails
	defer stop()
	c.conn.expect()
	defer c.conn.relax()
	err := do()
	switch {
	case err == nil:
		return nil
	case limited.Err() != nil:
		return fmt.Errorf("%s: %w", command, context.Cause(limited))
	case c.conn.wentSilent():
		return fmt.Errorf("%s: %w", command, ErrSilent)
	}
	if answer, ok := errors.AsType[*goimap.Error](err); ok {
		return &RefusedError{Command: command, Type: string(answer.Type), Code: string(answer.Code), Said: answer.Text}
	}
	return fmt.Errorf("%s: %w", command, err)
}

// Select implements MailSource.
func (c *client) Select(ctx context.Context) (Mailbox, error) {
	var mailbox Mailbox
	err := c.run(ctx, "SELECT", func() error {
		c.heard.listen(true)
		data, err := c.imap.Select(c.config.Mailbox, &goimap.SelectOptions{ReadOnly: c.config.ReadOnly}).Wait()
		c.heard.listen(false)
		if err != nil {
			return err
		}
		mailbox = Mailbox{UIDValidity: data.UIDValidity, UIDNext: uint32(data.UIDNext), Announces: c.announces, NotSticky: c.heard.notSticky()}
		for _, flag := range data.PermanentFlags {
			mailbox.Flags = append(mailbox.Flags, string(flag))
		}
		return nil
	})
	return mailbox, err
}

// Search implements MailSource. A NOOP goes before it: some servers look for
// new mail at no other command.
func (c *client) Search(ctx context.Context, from, last uint32) ([]uint32, error) {
	if last == 0 { // it finds whatever was announced
		select {
		case <-c.wake:
		default:
		}
	}
	var uids []uint32
	err := c.run(ctx, "SEARCH", func() error {
		if err := c.imap.Noop().Wait(); err != nil {
			return err
		}
		var set goimap.UIDSet
		set.AddRange(goimap.UID(from), goimap.UID(last))
		data, err := c.imap.UIDSearch(&goimap.SearchCriteria{UID: []goimap.UIDSet{set}}, nil).Wait()
		if err != nil {
			return err
		}
		if last == 0 {
			last = 1<<32 - 1
		}
		uids, err = expand(data.All, from, last)
		return err
	})
	return uids, err
}

// expand lists the UIDs of a set between two. "n:*" also finds the last message when
// its UID is below n (RFC 9051, section 6.4.8).
func expand(found goimap.NumSet, from, to uint32) ([]uint32, error) {
	if sequence, ok := found.(goimap.SeqSet); ok && len(sequence) > 0 {
		return nil, errors.New("a search for UIDs was answered with other numbers")
	}
	set, _ := found.(goimap.UIDSet) // without any it has found nothing
	var uids []uint32
	for _, span := range set {
		first, last := uint32(span.Start), uint32(span.Stop)
		if first == 0 || last < first || int64(len(uids))+int64(last-first) >= maxResults {
			return nil, fmt.Errorf("a search found an impossible set of %d ranges", len(set))
		}
		for uid := uint64(first); uid <= uint64(last); uid++ {
			if uid >= uint64(from) && uid <= uint64(to) {
				uids = append(uids, uint32(uid))
			}
		}
	}
	slices.Sort(uids)
	return slices.Compact(uids), nil
}

func uidSet(uids []uint32) goimap.UIDSet {
	var set goimap.UIDSet
	for _, uid := range uids {
		set.AddNum(goimap.UID(uid))
	}
	return set
}

// Describe implements MailSource.
func (c *client) Describe(ctx context.Context, uids []uint32) ([]Summary, error) {
	var summaries []Summary
	err := c.run(ctx, "FETCH", func() error {
		command := c.imap.Fetch(uidSet(uids), &goimap.FetchOptions{UID: true, InternalDate: true, RFC822Size: true})
		for message := command.Next(); message != nil; message = command.Next() {
			var summary Summary
			for item := message.Next(); item != nil; item = message.Next() {
				switch item := item.(type) {
				case imapclient.FetchItemDataUID:
					summary.UID = uint32(item.UID)
				case imapclient.FetchItemDataInternalDate:
					summary.Received = item.Time.UTC()
				case imapclient.FetchItemDataRFC822Size:
					summary.Size = item.Size
				}
			}
			summaries = append(summaries, summary)
		}
		return command.Close()
	})
	return summaries, err
}

// Fetch implements MailSource.
func (c *client) Fetch(ctx context.Context, uids []uint32, receive func(uid uint32, content io.Reader) error) error {
	return c.run(ctx, "FETCH", func() error {
		return c.fetch(uids, &goimap.FetchItemBodySection{Peek: true}, receive)
	})
}

// FetchLarge implements MailSource.
func (c *client) FetchLarge(ctx context.Context, uid uint32, limit int64, w io.Writer) error {
	for offset := int64(0); offset < limit; {
		size, taken := min(ChunkSize, limit-offset), int64(0)
		err := c.run(ctx, "FETCH", func() error {
			section := &goimap.FetchItemBodySection{Peek: true, Partial: &goimap.SectionPartial{Offset: offset, Size: size}}
			return c.fetch([]uint32{uid}, section, func(_ uint32, content io.Reader) error {
				var err error
				taken, err = io.Copy(w, content)
				return err
			})
		})
		if err != nil {
			return err
		}
		if offset += taken; taken < size {
			return nil
		}
	}
	return nil
}

func (c *client) fetch(uids []uint32, section *goimap.FetchItemBodySection, receive func(uint32, io.Reader) error) error {
	command := c.imap.Fetch(uidSet(uids), &goimap.FetchOptions{UID: true, BodySection: []*goimap.FetchItemBodySection{section}})
	var failed error
	for message := command.Next(); message != nil; message = command.Next() {
		uid := uint32(0)
		for item := message.Next(); item != nil; item = message.Next() {
			switch item := item.(type) {
			case imapclient.FetchItemDataUID:
				uid = uint32(item.UID)
			case imapclient.FetchItemDataBodySection:
				if failed != nil || uid == 0 || item.Literal == nil {
					continue
				}
				content := &literal{r: item.Literal, left: item.Literal.Size()}
				if failed = receive(uid, content); content.broken {
					// The library's reader goes on by itself from here: to touch
					// the literal again would race with it.
					return errors.Join(failed, c.conn.Close())
				}
			}
		}
	}
	return errors.Join(failed, command.Close())
}

// A literal fails when it ends before its announced size, as it does when the
// connection is lost; the library would let it pass for whole.
type literal struct {
	r      io.Reader
	left   int64
	broken bool // it cannot be read to its end
}

// Read implements io.Reader.
func (l *literal) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.left -= int64(n)
	l.broken = l.broken || err != nil && l.left > 0
	if errors.Is(err, io.EOF) && l.left > 0 {
		return n, ErrTruncated
	}
	return n, err
}

// Announcements implements MailSource.
func (c *client) Announcements() uint64 { return c.announced.Load() }

// Close implements MailSource.
func (c *client) Close() error {
	_ = c.conn.Close() // it may be closed already
	if c.imap != nil {
		_ = c.imap.Close() // waits for the reader, which reports the closing that was meant
	}
	return nil
}
