package dav

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultTimeout bounds one call to the server.
	DefaultTimeout = 20 * time.Second
	// MaxBody is how many bytes of a listing are read: some ten thousand entries.
	MaxBody = 16 << 20
)

// The errors of a server that callers tell apart.
var (
	// ErrNotFound reports that the server has no such resource.
	ErrNotFound = errors.New("the server has no such resource")
	// ErrChanged reports that a resource is not as it was read, or is there already.
	ErrChanged = errors.New("the resource is not as it was")
	// ErrNoETag reports a resource that cannot be changed on condition: the server gives no strong ETag of it, or does not
	// accept the one that it gives.
	ErrNoETag = errors.New("the server gives no strong ETag of the resource, or does not accept its own")
	// ErrOrigin reports an address of another origin than the server's.
	ErrOrigin = errors.New("an address of the server leads elsewhere")
	// ErrUnreadable reports an answer that is not what the protocol says.
	ErrUnreadable = errors.New("the answer of the server cannot be read")
	// ErrNoCollection reports that the URL leads to no calendar or address book, or to several.
	ErrNoCollection = errors.New("the URL does not lead to exactly one collection of this kind")

	errNotConnected = errors.New("no connection was made")
	errTimeout      = errors.New("the server took too long")
)

// A StatusError is an HTTP status by which a server refuses.
type StatusError struct{ Status int }

// Error implements error.
func (s *StatusError) Error() string { return "the server answered HTTP " + strconv.Itoa(s.Status) }

// A Config names a server and who asks it.
type Config struct {
	// URL leads to a collection, or to where the server says whose collections there are.
	URL            string
	User, Password string
	// Client makes the calls. It decides where they may go, and follows no redirect.
	Client *http.Client
	// Barred reports whether the client has refused to connect; nil is never.
	Barred func(error) bool
	// Timeout bounds one call; 0 means DefaultTimeout.
	Timeout time.Duration
}

// A Client speaks with one server. It is safe for use by several goroutines at once.
type Client struct {
	config Config
	base   *url.URL
	kind   Kind
	words  words

	mu         sync.Mutex
	collection string // once found
}

// New returns the client of a server's collections of one kind.
func New(kind Kind, config Config) (*Client, error) {
	base, err := url.Parse(config.URL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("dav: the url has to begin with https:// or http://")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("dav: the url has a user, a query or a fragment")
	case config.Client == nil:
		return nil, errors.New("dav: there is no client, so that nobody decides where calls may go")
	case config.Timeout < 0:
		return nil, errors.New("dav: timeout must not be negative")
	}
	spoken, err := readWords()
	if err != nil {
		return nil, err
	}
	config.Timeout = cmp.Or(config.Timeout, DefaultTimeout)
	base.Path = cmp.Or(base.Path, "/")
	return &Client{config: config, base: base, kind: kind, words: spoken}, nil
}

// resolve returns where an address of the server leads. It fails on another origin.
func (c *Client) resolve(address string) (*url.URL, error) {
	target, err := c.base.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, ErrUnreadable
	}
	if target.User != nil || target.Scheme != c.base.Scheme || !strings.EqualFold(hostOf(target), hostOf(c.base)) {
		return nil, ErrOrigin
	}
	target.RawQuery, target.Fragment = "", ""
	return target, nil
}

// hostOf is the host with its port, also where that is the scheme's own.
func hostOf(target *url.URL) string {
	port := cmp.Or(target.Port(), map[string]string{"http": "80", "https": "443"}[target.Scheme])
	return target.Hostname() + ":" + port
}

// A call is one request to the server.
type call struct {
	method, path string
	header       map[string]string
	body         []byte
}

// An answer is what the server has said, whatever its status is.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a call. An error says that there is no answer.
func (c *Client) do(ctx context.Context, asked call) (answer, error) {
	target, err := c.resolve(asked.path)
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errNotConnected, err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.config.Timeout, errTimeout)
	defer cancel()
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	request, err := http.NewRequestWithContext(traced, asked.method, target.String(), bytes.NewReader(asked.body))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errNotConnected, ErrUnreadable)
	}
	request.GetBody = nil // nothing is sent twice by the client itself
	for name, value := range asked.header {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", "podium")
	if c.config.User != "" || c.config.Password != "" {
		request.SetBasicAuth(c.config.User, c.config.Password)
	}
	reply, err := c.config.Client.Do(request)
	if err != nil {
		return answer{}, c.unanswered(limited, err, connected.Load())
	}
	defer func() { _ = reply.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(reply.Body, MaxBody+1))
	switch {
	case err != nil:
		return answer{}, c.unanswered(limited, err, true)
	case len(said) > MaxBody:
		return answer{}, fmt.Errorf("%w: it has more than %d bytes", ErrUnreadable, MaxBody)
	}
	return answer{reply.StatusCode, reply.Header, said}, nil
}

// unanswered is why a call has no answer, without the address that it went to.
func (c *Client) unanswered(ctx context.Context, err error, connected bool) error {
	if refused, is := errors.AsType[*url.Error](err); is {
		err = refused.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if connected {
		return fmt.Errorf("call the server: %w", err)
	}
	return fmt.Errorf("%w: %w", errNotConnected, err)
}

// ask makes a call that changes nothing, and follows one redirect within the server, as discovery may.
func (c *Client) ask(ctx context.Context, asked call) (answer, error) {
	got, err := c.do(ctx, asked)
	if err != nil {
		return answer{}, err
	}
	switch got.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if asked.path = got.header.Get("Location"); asked.path == "" {
			return answer{}, ErrUnreadable
		}
		if got, err = c.do(ctx, asked); err != nil {
			return answer{}, err
		}
	}
	return got, got.refused()
}

// refused is the error that the status of an answer stands for; nil for success.
func (a *answer) refused() error {
	switch {
	case a.status/100 == 2:
		return nil
	case a.status == http.StatusNotFound || a.status == http.StatusGone:
		return ErrNotFound
	case a.status == http.StatusPreconditionFailed:
		return ErrChanged
	}
	return &StatusError{a.status}
}
