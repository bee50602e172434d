package admission_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"podium/ingest/admission"
	"podium/ingest/problem"
)

func TestBodyIsReadWholeOrRefused(t *testing.T) {
	t.Parallel()
	tooLarge := problem.New(http.StatusRequestEntityTooLarge, "too-large", "The body is too large", "Send less.")
	for name, test := range map[string]struct {
		body io.Reader
		want string
		kind string // of the problem
	}{
		"empty":            {body: strings.NewReader("")},
		"as large as told": {body: strings.NewReader("12345678"), want: "12345678"},
		"one byte more":    {body: strings.NewReader("123456789"), kind: "urn:podium:problem:too-large"},
		"cut off":          {body: io.MultiReader(strings.NewReader("1234"), iotest.ErrReader(io.ErrUnexpectedEOF)), kind: "urn:podium:problem:incomplete"},
		"lost":             {body: iotest.ErrReader(errors.New("reset")), kind: "urn:podium:problem:incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", test.body)
			body, told := admission.ReadBody(httptest.NewRecorder(), request, 8, time.Minute, tooLarge)
			var kind string
			if told != nil {
				kind = told.Type
			}
			if string(body) != test.want || kind != test.kind {
				t.Errorf("%q, %q", body, kind)
			}
		})
	}
}

const within = 10 * time.Second

// serveOne serves a handler on one connection in memory, and returns its other end.
func serveOne(t *testing.T, handler http.HandlerFunc) net.Conn {
	t.Helper()
	client, accepted := net.Pipe()
	listener := &single{conn: accepted, closed: make(chan struct{})}
	server := &http.Server{Handler: handler} //nolint:gosec // in memory; the time of the body is what is tested
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return client
}

// A single is a listener that has one connection.
type single struct {
	conn   net.Conn
	closed chan struct{}
	once   sync.Once
}

func (s *single) Accept() (net.Conn, error) {
	if conn := s.conn; conn != nil {
		s.conn = nil
		return conn, nil
	}
	<-s.closed
	return nil, net.ErrClosed
}

func (s *single) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *single) Addr() net.Addr { return &net.UnixAddr{Net: "pipe"} }

func answerTo(t *testing.T, connection net.Conn, request string) (status int, body string) {
	t.Helper()
	if _, err := io.WriteString(connection, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}

// TestBodyThatTricklesIsLetGo bounds how long one sender can hold a place.
func TestBodyThatTricklesIsLetGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		connection := serveOne(t, func(w http.ResponseWriter, r *http.Request) {
			if _, told := admission.ReadBody(w, r, 8, within, nil); told != nil {
				problem.Write(w, told)
			}
		})
		status, body := answerTo(t, connection, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n1234")
		if status != http.StatusRequestTimeout || !strings.Contains(body, `"urn:podium:problem:slow"`) || time.Since(start) != within {
			t.Errorf("after %v: %d %s", time.Since(start), status, body)
		}
	})
}

// TestAnswerMayTakeLongerThanTheBody: the deadline of the body would cut whoever
// waits. An empty body is one that the server does not lift it for.
func TestAnswerMayTakeLongerThanTheBody(t *testing.T) {
	t.Parallel()
	for _, request := range []string{"Content-Length: 8\r\n\r\n12345678", "Content-Length: 0\r\n\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			connection := serveOne(t, func(w http.ResponseWriter, r *http.Request) {
				body, told := admission.ReadBody(w, r, 8, within, nil)
				if told != nil {
					problem.Write(w, told)
					return
				}
				select {
				case <-r.Context().Done():
					w.WriteHeader(http.StatusGone)
				case <-time.After(3 * within):
					_, _ = w.Write(body)
				}
			})
			status, body := answerTo(t, connection, "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"+request)
			if status != http.StatusOK || !strings.HasSuffix(request, "\r\n\r\n"+body) {
				t.Errorf("%d %q", status, body)
			}
		})
	}
}
