package egress_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podium/cmd/podium/egress"
)

// TestBodyLimit: bytes count after decompression, and what fits is whole.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	bomb := gzip.NewWriter(&packed)
	_, _ = bomb.Write(make([]byte, 16<<20))
	_ = bomb.Close()
	const usual = 2 << 20
	address, _ := service(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fits":
			_, _ = w.Write(make([]byte, usual))
		case "/over":
			_, _ = w.Write(make([]byte, usual+1))
		case "/endless":
			for _, err := w.Write([]byte("a")); err == nil; _, err = w.Write(make([]byte, 1<<16)) {
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		}
	})
	guard := newWorld(t).guard("local")
	for path, want := range map[string]error{"/fits": nil, "/over": egress.ErrTooLarge, "/endless": egress.ErrTooLarge, "/bomb": egress.ErrTooLarge} {
		status, body, err := get(t, guard.Client(), "http://"+address.String()+path)
		if !errors.Is(err, want) || len(body) != usual || status != http.StatusOK {
			t.Errorf("%s: %d bytes, %v", path, len(body), err)
		}
	}
	guard.Limits.Body = 10
	if _, body, err := get(t, guard.Client(), "http://"+address.String()+"/over"); !errors.Is(err, egress.ErrTooLarge) || len(body) != 10 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

// TestSilence: a server that says nothing is left, and sees it.
func TestSilence(t *testing.T) {
	t.Parallel()
	left := make(chan string, 3)
	address, _ := service(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/header":
			_ = http.NewResponseController(w).Flush()
		case "/some":
			_, _ = io.WriteString(w, "some")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
		left <- r.URL.Path
	})
	for path, want := range map[string]struct{ body, word string }{"/": {"", "first"}, "/header": {"", "first"}, "/some": {"some", "further"}} {
		for limit := 100 * time.Millisecond; ; limit *= 2 { // a busy machine needs longer for what the server does say
			guard := newWorld(t).guard("local")
			guard.Limits = egress.Limits{FirstByte: limit, Idle: limit / 2}
			_, body, err := get(t, guard.Client(), "http://"+address.String()+path)
			if got := <-left; got != path {
				t.Errorf("%s was left instead of %s", got, path)
			}
			if body != want.body && limit < time.Minute {
				continue
			}
			if !errors.Is(err, egress.ErrSilent) || !strings.Contains(err.Error(), want.word) || body != want.body {
				t.Errorf("%s: %q, %v", path, body, err)
			}
			break
		}
	}
}

// script is a server of which every word takes its time.
type script struct {
	header time.Duration
	words  []time.Duration // before each byte, and the last before the end
}

func (s *script) RoundTrip(request *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.header):
		return &http.Response{StatusCode: http.StatusOK, Body: &words{ctx: request.Context(), left: s.words}}, nil
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

type words struct {
	ctx    context.Context //nolint:containedctx // the request's, which ends with its answer
	left   []time.Duration
	closed bool
}

func (w *words) Read(p []byte) (int, error) {
	select {
	case <-time.After(w.left[0]):
	case <-w.ctx.Done():
		return 0, w.ctx.Err()
	}
	if w.left = w.left[1:]; len(w.left) == 0 {
		w.left = []time.Duration{0}
		return 0, io.EOF
	}
	p[0] = 'a'
	return 1, nil
}

func (w *words) Close() error {
	w.closed = true
	return nil
}

// TestDeadlines holds the two deadlines to their moments, and to the server's time alone.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	s := time.Second
	for name, c := range map[string]struct {
		limits egress.Limits
		server script
		reader time.Duration // what the caller takes its time for between two reads
		want   string        // what is read
		after  time.Duration // when it ended
		silent string        // "" if it ended well
	}{
		"in time":                      {egress.Limits{FirstByte: 10 * s, Idle: 5 * s}, script{4 * s, []time.Duration{5 * s, 4 * s, 4 * s}}, 0, "aa", 17 * s, ""},
		"no header":                    {egress.Limits{FirstByte: 10 * s}, script{time.Hour, nil}, 0, "", 10 * s, "first byte of its answer within 10s"},
		"a header only":                {egress.Limits{FirstByte: 10 * s, Idle: 5 * s}, script{4 * s, []time.Duration{time.Hour}}, 0, "", 10 * s, "first byte of its answer within 10s"},
		"one byte":                     {egress.Limits{FirstByte: 10 * s, Idle: 5 * s}, script{4 * s, []time.Duration{s, time.Hour}}, 0, "a", 10 * s, "further byte of its answer within 5s"},
		"no end":                       {egress.Limits{Idle: 5 * s}, script{0, []time.Duration{time.Minute, s, time.Hour}}, 0, "aa", 66 * s, "further byte of its answer within 5s"},
		"no deadline":                  {egress.Limits{}, script{time.Hour, []time.Duration{time.Hour, time.Hour, 0}}, 0, "aa", 3 * time.Hour, ""},
		"first byte only":              {egress.Limits{FirstByte: s}, script{0, []time.Duration{0, time.Hour, 0}}, 0, "aa", time.Hour, ""},
		"the caller is slow":           {egress.Limits{FirstByte: 10 * s, Idle: 5 * s}, script{s, []time.Duration{s, s, s}}, time.Minute, "aa", 4*s + 3*time.Minute, ""},
		"the caller and server, first": {egress.Limits{FirstByte: 10 * s, Idle: 5 * s}, script{4 * s, []time.Duration{7 * s}}, time.Minute, "", time.Minute + 10*s, "first byte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				read, err := drain(t, c.limits.Bound(&c.server), c.reader)
				if read != c.want || time.Since(began) != c.after {
					t.Errorf("%q after %s", read, time.Since(began))
				}
				if errors.Is(err, egress.ErrSilent) != (c.silent != "") || err != nil && !strings.Contains(err.Error(), c.silent) {
					t.Error(err)
				}
			})
		})
	}
}

func drain(t *testing.T, transport http.RoundTripper, pause time.Duration) (read string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://box.example", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	for buffer := make([]byte, 8); ; {
		time.Sleep(pause)
		n, err := response.Body.Read(buffer)
		read += string(buffer[:n])
		if err == io.EOF {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// TestClosedAnswer: closing an answer closes the server's and ends the request, and the
// caller's own cancel is no silence.
func TestClosedAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := &words{left: []time.Duration{time.Hour}}
		limits := egress.Limits{FirstByte: time.Minute, Idle: time.Minute}
		transport := limits.Bound(answering(func(r *http.Request) *http.Response {
			body.ctx = r.Context()
			return &http.Response{Body: body}
		}))
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://box.example", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		time.AfterFunc(time.Second, cancel)
		if _, err := response.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) || errors.Is(err, egress.ErrSilent) {
			t.Error(err)
		}
		again, err := transport.RoundTrip(request.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		body.closed = false
		if err := again.Body.Close(); err != nil || !body.closed || body.ctx.Err() == nil {
			t.Errorf("closed %t, %v", body.closed, err)
		}
	})
}

type answering func(*http.Request) *http.Response

func (a answering) RoundTrip(request *http.Request) (*http.Response, error) { return a(request), nil }
