package runs

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"podium/bus/history"
	"podium/ingest/problem"
	"podium/schemas"
)

// A Step is the data of one event of a stream: what one record says of the run.
type Step struct {
	Sequence uint64        `json:"sequence"` // of the record on the ledger; also the event's id
	Time     time.Time     `json:"time"`     // when it was decided
	Facts    schemas.Facts `json:"facts"`
}

const (
	// recordEvent names a step of several facts; a step of one has the fact's name.
	recordEvent = "record"
	// endEvent is the last of a stream; its data is the Document. It is also the
	// id that tells a reader who comes back with it that there is no more.
	endEvent = "end"
	// reconnectAfter is how long a reader waits before it comes back.
	reconnectAfter = 2 * time.Second
)

// streamEvents follows a run as server-sent events (HTML Living Standard,
// section 9.2) from Last-Event-ID on. After the end, 204 tells an EventSource
// not to come back.
func (a *API) streamEvents(w http.ResponseWriter, r *http.Request) {
	ref, granted, fault := a.admit(r)
	if fault != nil {
		problem.Write(w, fault)
		return
	}
	after, ended, err := lastEventID(r.Header)
	if err != nil {
		problem.Write(w, problemEventID())
		return
	}
	leave, ok := a.place(ref.session, holderOf(r, granted, ref.session))
	if !ok {
		problem.Write(w, problemBusy())
		return
	}
	defer leave()
	watch, err := a.open(r.Context(), ref, granted, true)
	if err != nil {
		problem.Write(w, a.readProblem(r, ref, err))
		return
	}
	defer watch.Close()
	if ended && watch.ended() {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if !watch.ended() && r.Method != http.MethodHead {
		if err = watch.attend(r.Context()); err != nil { // said before the stream begins
			problem.Write(w, a.readProblem(r, ref, err))
			return
		}
	}
	stream := &eventStream{writer: w, controller: http.NewResponseController(w), timeout: a.config.WriteTimeout}
	if writeTimeout(r) == 0 {
		defer stream.liftDeadline()
	}
	if stream.begin() != nil || r.Method == http.MethodHead {
		return
	}
	if err := a.follow(r.Context(), watch, stream, after); err != nil && r.Context().Err() == nil && !errors.Is(err, ErrClosing) {
		// The reader comes back with the last id that it has seen.
		a.log.Warn().Err(err).Str("session", ref.session).Msg("an event stream ended early")
	}
}

// lastEventID returns the sequence that a reader has seen, or that it has seen the end.
func lastEventID(header http.Header) (after uint64, ended bool, err error) {
	switch id := header.Get("Last-Event-Id"); id {
	case "":
		return 0, false, nil
	case endEvent:
		return 0, true, nil
	default:
		after, err = strconv.ParseUint(id, 10, 64)
		return after, false, err
	}
}

// follow sends what is known, then what comes, until the run has ended.
func (a *API) follow(ctx context.Context, w *Watch, stream *eventStream, after uint64) error {
	heartbeat := time.NewTicker(a.config.Heartbeat)
	defer heartbeat.Stop()
	var shown shownPartial
	for len(w.past) > 0 || !w.ended() {
		more, err := stream.partial(w, &shown)
		if err != nil {
			return err
		}
		record, ok, err := w.next(ctx, heartbeat.C, more)
		if err != nil {
			return err
		}
		if !ok {
			err = stream.comment("heartbeat")
		} else {
			err = stream.step(w, &record, after)
		}
		if err != nil {
			return err
		}
	}
	document, err := w.document(ctx)
	if err != nil {
		return err
	}
	return stream.event(endEvent, endEvent, document)
}

// An eventStream writes server-sent events. Every write reaches the reader at
// once or fails: a reader that takes nothing is let go.
type eventStream struct {
	writer     http.ResponseWriter
	controller *http.ResponseController
	timeout    time.Duration
}

func (s *eventStream) begin() error {
	header := s.writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Accel-Buffering", "no") // asks proxies to pass on every event at once
	s.writer.WriteHeader(http.StatusOK)
	return s.write("retry: " + strconv.FormatInt(reconnectAfter.Milliseconds(), 10) + "\n\n")
}

// step sends what a record says of the run, if anything, and if it is new.
func (s *eventStream) step(w *Watch, record *history.StoredRecord, after uint64) error {
	facts := w.facts(record)
	if len(facts) == 0 || record.Sequence <= after {
		return nil
	}
	name := recordEvent
	if len(facts) == 1 {
		name = facts[0].Name()
	}
	step := Step{Sequence: record.Sequence, Time: record.First().Cause.Time, Facts: facts}
	return s.event(strconv.FormatUint(record.Sequence, 10), name, step)
}

// partial sends what was said of an answer that is still to come and has not been shown, once all that was is
// shown. More is closed when there is more.
func (s *eventStream) partial(w *Watch, shown *shownPartial) (more <-chan struct{}, err error) {
	if len(w.past) > 0 {
		return nil, nil
	}
	said, task, more := w.partial()
	if told := shown.next(said, task); told != nil {
		err = s.event("", partialEvent, told)
	}
	return more, err
}

// event sends one event; without an id it is none to come back to. JSON holds no line break, so the data is one line.
func (s *eventStream) event(id, name string, data any) error {
	body, err := schemas.Marshal(data)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return s.write(id + "event: " + name + "\ndata: " + string(body) + "\n\n")
}

func (s *eventStream) comment(text string) error { return s.write(": " + text + "\n\n") }

// liftDeadline keeps the deadline of this stream from falling upon the next
// request of the connection, when the server sets none itself.
func (s *eventStream) liftDeadline() { _ = s.controller.SetWriteDeadline(time.Time{}) }

func (s *eventStream) write(text string) error {
	_ = s.controller.SetWriteDeadline(time.Now().Add(s.timeout)) // a writer without deadlines has none to set
	if _, err := s.writer.Write([]byte(text)); err != nil {
		return err
	}
	if err := s.controller.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
