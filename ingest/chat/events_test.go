package chat_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

// A tap is a response writer whose bytes can be read while they come.
type tap struct {
	mutex     sync.Mutex
	header    http.Header
	status    int
	body      bytes.Buffer
	flushed   int           // bytes
	deadlines []time.Time   // as set for writes
	stalled   chan struct{} // when not nil, a write waits for it or for the deadline
}

func (w *tap) Header() http.Header { return w.header }

func (w *tap) WriteHeader(status int) { w.status = status }

func (w *tap) Write(p []byte) (int, error) {
	if w.stalled != nil {
		select {
		case <-w.stalled:
		case <-time.After(time.Until(w.deadlines[len(w.deadlines)-1])):
			return 0, os.ErrDeadlineExceeded
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.body.Write(p)
}

func (w *tap) FlushError() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.flushed = w.body.Len()
	return nil
}

func (w *tap) SetWriteDeadline(deadline time.Time) error {
	w.deadlines = append(w.deadlines, deadline)
	return nil
}

// seen returns what a reader has got: what is not flushed is not there yet.
func (w *tap) seen() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return string(w.body.Bytes()[:w.flushed])
}

// A served is one event of a stream.
type served struct{ id, name, data string }

func parseEvents(t *testing.T, stream string) (events []served, comments int) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		var event served
		for line := range strings.SplitSeq(block, "\n") {
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "":
				comments++
			case "id":
				event.id = value
			case "event":
				event.name = value
			case "data":
				event.data = value
			case "retry":
			default:
				t.Errorf("line %q", line)
			}
		}
		if event.name != "" {
			events = append(events, event)
		}
	}
	return events, comments
}

// follow serves a stream in the background and returns what waits for its end.
func follow(ctx context.Context, adapter *chat.Adapter, w *tap, c call) (done chan struct{}) {
	done = make(chan struct{})
	w.header = http.Header{}
	go func() {
		defer close(done)
		adapter.Handler().ServeHTTP(w, c.request(ctx))
	}()
	return done
}

func names(events []served) string {
	var list []string
	for _, event := range events {
		list = append(list, event.name)
	}
	return strings.Join(list, " ")
}

func TestEventsOfARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(2)
		adapter := newAdapter(t, ledger)
		accepted := accept(t, adapter, post("web", hello))
		var live tap
		done := follow(t.Context(), adapter, &live, get(accepted.Events))
		synctest.Wait()
		if events, _ := parseEvents(t, live.seen()); len(events) != 0 || live.status != http.StatusOK || live.header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("before the decision: %d %v %v", live.status, live.header, events)
		}
		session := newScript(t, ledger, accepted.Session)
		began := session.begin(accepted, 1)
		worked := session.work(1)
		synctest.Wait()
		events, _ := parseEvents(t, live.seen())
		if names(events) != "record task_started" || events[0].id != strconv.FormatUint(began, 10) || events[1].id != strconv.FormatUint(worked, 10) {
			t.Fatalf("under way: %+v", events)
		}
		step := read[runs.Step](t, []byte(events[1].data))
		if step.Sequence != worked || len(step.Facts) != 1 || schemas.As[*schemas.TaskStarted](step.Facts[0]) == nil || step.Time.IsZero() {
			t.Errorf("step %+v", step)
		}
		session.settle(1, text("4\nexactly"))
		session.end(1)
		<-done
		events, _ = parseEvents(t, live.seen())
		if names(events) != "record task_started record record end" {
			t.Fatalf("ended: %+v", events)
		}
		end := read[runs.Document](t, []byte(events[4].data))
		if end.Answer != "4\nexactly" || end.State != "complete" || end.RunID != schemas.RunID(accepted.Session, 1) {
			t.Errorf("end %+v", end)
		}
		if strings.Contains(live.seen(), "secret") {
			t.Error("a snapshot is shown")
		}
	})
}

// Every place to resume from gives what comes after it, nothing twice, nothing less.
func TestEventsResume(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	accepted := accept(t, adapter, post("web", hello))
	session := newScript(t, ledger, accepted.Session)
	session.begin(accepted, 1)
	session.work(1)
	session.settle(1, text("4"))
	session.end(1)
	all, _ := parseEvents(t, get(accepted.Events).do(t, adapter).Body.String())
	if len(all) != 5 {
		t.Fatalf("events %+v", all)
	}
	for i := range len(all) - 1 {
		rest, _ := parseEvents(t, get(accepted.Events, "Last-Event-Id", all[i].id).do(t, adapter).Body.String())
		if names(rest) != names(all[i+1:]) {
			t.Errorf("after %s: %s, want %s", all[i].id, names(rest), names(all[i+1:]))
		}
	}
	if last := get(accepted.Events, "Last-Event-Id", all[len(all)-1].id).do(t, adapter); last.Code != http.StatusNoContent || last.Body.Len() != 0 {
		t.Errorf("after the end: %d %q", last.Code, last.Body)
	}
	expect[chat.Problem](t, adapter, get(accepted.Events, "Last-Event-Id", "nonsense"), http.StatusBadRequest)
	head := call{method: http.MethodHead, path: accepted.Events, header: http.Header{}}.do(t, adapter)
	if head.Code != http.StatusOK || strings.Contains(head.Body.String(), "event:") {
		t.Errorf("HEAD: %d %q", head.Code, head.Body)
	}
}

// A session may have several runs: a reader of one sees nothing of another.
func TestEventsOfOneRunAmongSeveral(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	first, second := accept(t, adapter, post("web", hello)), accept(t, adapter, post("web", hello))
	session := newScript(t, ledger, first.Session)
	session.begin(first, 1)
	queued := received(second, 2, schemas.DispositionQueued)
	message := incoming(second)
	schemas.As[*schemas.MessageReceived](queued).Message = &message
	waiting := session.record(queued)
	session.settle(1, text("4"))
	session.record(
		&schemas.TaskCompleted{Run: 1, Task: schemas.DeliveryTask, Attempt: 1},
		&schemas.RunEnded{Run: 1, Status: schemas.RunCompleted, Reason: schemas.StopCompleted},
		started(second, 2),
	)
	session.record(&schemas.RunSettled{Run: 2, Status: schemas.RunCancelled, Reason: schemas.StopCancelled},
		&schemas.RunEnded{Run: 2, Status: schemas.RunCancelled, Reason: schemas.StopCancelled})
	events, _ := parseEvents(t, get(first.Events).do(t, adapter).Body.String())
	if names(events) != "record record record end" {
		t.Errorf("run 1: %+v", events)
	}
	events, _ = parseEvents(t, get(second.Events).do(t, adapter).Body.String())
	if names(events) != "message_received run_started record end" || events[0].id != strconv.FormatUint(waiting, 10) {
		t.Errorf("run 2: %+v", events)
	}
	for _, event := range events[:3] {
		for _, fact := range read[runs.Step](t, []byte(event.data)).Facts {
			if schemas.RunOf(fact) != 2 {
				t.Errorf("a fact of run %d: %s", schemas.RunOf(fact), event.data)
			}
		}
	}
}

func TestEventsOfAMessageThatCameToNothing(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	accepted := accept(t, adapter, post("web", hello))
	newScript(t, ledger, accepted.Session).record(received(accepted, 0, schemas.DispositionIgnored))
	events, _ := parseEvents(t, get(accepted.Events).do(t, adapter).Body.String())
	if names(events) != "message_received end" {
		t.Errorf("events %+v", events)
	}
}

func TestHeartbeatsAndClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		adapter := newAdapter(t, memory.New(1))
		accepted := accept(t, adapter, post("web", hello))
		var live tap
		done := follow(t.Context(), adapter, &live, get(accepted.Events))
		time.Sleep(46 * time.Second)
		if _, comments := parseEvents(t, live.seen()); comments != 3 {
			t.Errorf("%d comments in 46 s", comments)
		}
		adapter.Close()
		adapter.Close() // a second time is no error
		<-done
		if last := live.deadlines[len(live.deadlines)-1]; !last.IsZero() {
			t.Errorf("the deadline %v stays for the next request", last)
		}
	})
}

func TestReaderMayLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		adapter := newAdapter(t, memory.New(1), func(c *chat.Config) { c.Runs.Readers = 1 })
		accepted := accept(t, adapter, post("web", hello))
		var live tap
		ctx, cancel := context.WithCancel(t.Context())
		done := follow(ctx, adapter, &live, get(accepted.Events))
		synctest.Wait()
		busy, header := expect[chat.Problem](t, adapter, get(accepted.Events), http.StatusServiceUnavailable)
		if !strings.HasSuffix(busy.Type, "too-many-readers") || header.Get("Retry-After") == "" {
			t.Errorf("problem %+v", busy)
		}
		cancel()
		<-done
		adapter.Close()
		if recorder := get(accepted.Events).do(t, adapter); recorder.Code != http.StatusOK {
			t.Errorf("the place was not given back: %d", recorder.Code)
		}
	})
}

// A reader that takes nothing is let go, and holds nobody up until then.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		adapter := newAdapter(t, ledger)
		accepted := accept(t, adapter, post("web", hello))
		slow, quick := tap{stalled: make(chan struct{})}, tap{}
		before := time.Now()
		slowDone := follow(t.Context(), adapter, &slow, get(accepted.Events))
		quickDone := follow(t.Context(), adapter, &quick, get(accepted.Events))
		synctest.Wait()
		session := newScript(t, ledger, accepted.Session)
		session.begin(accepted, 1)
		session.settle(1, text("4"))
		session.end(1)
		<-quickDone
		if events, _ := parseEvents(t, quick.seen()); names(events) != "record record record end" || time.Since(before) != 0 {
			t.Errorf("the quick one got %v after %v", names(events), time.Since(before))
		}
		<-slowDone
		if took := time.Since(before); took != 30*time.Second {
			t.Errorf("the slow one was let go after %v", took)
		}
	})
}

// buffered is a middleware that collects what is written, as compressors do.
type buffered struct {
	http.ResponseWriter
	buffer *bufio.Writer
}

func (b *buffered) Write(p []byte) (int, error) { return b.buffer.Write(p) }

func (b *buffered) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *buffered) FlushError() error {
	return errors.Join(b.buffer.Flush(), http.NewResponseController(b.ResponseWriter).Flush())
}

// Over a real connection, with a server that has limits and a buffering
// middleware, an event arrives when it happens.
func TestEventsOverTheNetwork(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	adapter := newAdapter(t, ledger)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wrapped := &buffered{ResponseWriter: w, buffer: bufio.NewWriter(w)}
		adapter.Handler().ServeHTTP(wrapped, r)
		_ = wrapped.buffer.Flush()
	}))
	server.Config.ReadTimeout = 200 * time.Millisecond
	server.Config.WriteTimeout = 200 * time.Millisecond
	server.Config.RegisterOnShutdown(adapter.Close)
	server.Start()
	t.Cleanup(server.Close)
	accepted := accept(t, adapter, post("web", hello))

	open := func(after string) (*http.Response, *bufio.Scanner) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+accepted.Events, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Last-Event-ID", after)
		response := doPatiently(t, server.Client(), request)
		return response, bufio.NewScanner(response.Body)
	}
	next := func(lines *bufio.Scanner) (event served) {
		t.Helper()
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				event.id = value
			case "event":
				event.name = value
			case "data":
				event.data = value
				return event
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return event
	}

	session := newScript(t, ledger, accepted.Session)
	first, lines := open("")
	session.begin(accepted, 1)
	began := next(lines)
	waitBeyond(t, server.Config.WriteTimeout)
	session.work(1)
	if worked := next(lines); began.name != "record" || worked.name != "task_started" {
		t.Errorf("events %+v %+v", began, worked)
	}
	if err := first.Body.Close(); err != nil {
		t.Fatal(err)
	}
	second, lines := open(began.id)
	session.settle(1, text("4"))
	session.end(1)
	for _, want := range []string{"task_started", "record", "record", "end"} {
		if got := next(lines); got.name != want {
			t.Errorf("event %+v, want %s", got, want)
		}
	}
	if err := second.Body.Close(); err != nil {
		t.Fatal(err)
	}
}

// A wait may outlast the limits that the server sets for every request.
func TestWaitOverTheNetwork(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	server := httptest.NewUnstartedServer(adapter.Handler())
	server.Config.ReadTimeout = 200 * time.Millisecond
	server.Config.WriteTimeout = 200 * time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	accepted := accept(t, adapter, post("web", hello))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+accepted.Run, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Prefer", "wait=30")
	var settled sync.WaitGroup
	settled.Go(func() {
		waitBeyond(t, server.Config.WriteTimeout)
		session := newScript(t, ledger, accepted.Session)
		session.begin(accepted, 1)
		session.settle(1, text("4"))
	})
	defer settled.Wait()
	response := doPatiently(t, server.Client(), request)
	defer response.Body.Close() //nolint:errcheck // nothing is written
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if document := read[runs.Document](t, body); document.Answer != "4" {
		t.Errorf("document %+v", document)
	}
}

// doPatiently sends a request without a body again while the server closes the connection: on a busy machine the limit
// for reading the request ends before the request is read.
func doPatiently(t *testing.T, client *http.Client, request *http.Request) *http.Response {
	t.Helper()
	for {
		response, err := client.Do(request)
		if err == nil {
			return response
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// waitBeyond lets a server's limit pass, which only the real clock can.
func waitBeyond(t *testing.T, limit time.Duration) {
	t.Helper()
	timer := time.NewTimer(2 * limit)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Error(t.Context().Err())
	}
}

// A crowded ledger has as many readers as it may.
type crowded struct{ bus.Core }

// Read implements bus.Ledger.
func (crowded) Read(context.Context, string, uint64, ...string) (bus.Reader, error) {
	return nil, &bus.TemporaryError{Op: "read", Err: bus.ErrTooManyReaders}
}

// Who finds the ledger full of readers is told when to come back, before the stream
// begins, and reads the run itself meanwhile.
func TestLedgerFullOfReaders(t *testing.T) {
	t.Parallel()
	adapter := newAdapter(t, crowded{memory.New(1)})
	accepted := accept(t, adapter, post("web", hello))
	for _, c := range []call{get(accepted.Events), get(accepted.Run, "Prefer", "wait=5")} {
		busy, header := expect[chat.Problem](t, adapter, c, http.StatusServiceUnavailable)
		if !strings.HasSuffix(busy.Type, "too-many-readers") || header.Get("Retry-After") == "" {
			t.Errorf("problem %+v", busy)
		}
	}
	expect[runs.Document](t, adapter, get(accepted.Run), http.StatusAccepted)
}

// The readers of one shard take no place from those of another.
func TestReadersOfOneShardLeaveOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const shards = 2
		adapter := newAdapter(t, memory.New(shards), func(c *chat.Config) { c.Runs.Readers = 1 })
		var events [shards][]string
		for len(events[0]) < 2 || len(events[1]) < 1 {
			accepted := accept(t, adapter, post("web", `{"text":"each begins a conversation"}`))
			shard := schemas.ShardOf(accepted.Session, shards)
			events[shard] = append(events[shard], accepted.Events)
		}
		var taps [shards]tap
		for shard := range events {
			follow(t.Context(), adapter, &taps[shard], get(events[shard][0]))
		}
		synctest.Wait()
		for shard := range taps {
			if taps[shard].status != http.StatusOK {
				t.Errorf("shard %d: %d", shard, taps[shard].status)
			}
		}
		expect[chat.Problem](t, adapter, get(events[0][1]), http.StatusServiceUnavailable)
		adapter.Close()
	})
}
