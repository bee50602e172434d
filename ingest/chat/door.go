package chat

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/schemas"
)

// doorName is the door's part of the subject, podium.in.chat.<p>.
const doorName = "chat"

// A Door takes chat messages and shows what becomes of them. It is safe for use
// by several goroutines at once.
type Door struct {
	config        Config
	channels      map[string]channel
	stranger      channel // stands in for a channel that does not exist
	capabilityKey []byte
	baseURL       string

	core     bus.Core
	intake   *bus.Intake
	receipts *receipts
	log      zerolog.Logger

	readers chan struct{} // holds one value for each request that waits or follows
	closing chan struct{}
	close   sync.Once
}

type channel struct {
	profile  string
	verifier verifier
}

// New returns a door onto a ledger. An error names every channel that is
// configured wrongly, and no secret.
func New(config Config, core bus.Core, log zerolog.Logger) (*Door, error) {
	config = config.withDefaults()
	channels, err := config.channels()
	if err != nil {
		return nil, err
	}
	return &Door{
		config:        config,
		channels:      channels,
		stranger:      channel{verifier: decoy()},
		capabilityKey: config.CapabilityKey,
		baseURL:       config.BaseURL,
		core:          core,
		intake:        bus.NewIntake(core),
		receipts:      newReceipts(config.Receipts),
		log:           log,
		readers:       make(chan struct{}, config.Readers),
		closing:       make(chan struct{}),
	}, nil
}

// Handler returns the door's pages, all below /v1/. How long a request may take
// to arrive is for the server to bound (ReadTimeout); waits and streams extend its
// WriteTimeout for themselves.
func (d *Door) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/{channel}", d.receive)
	mux.HandleFunc("/v1/chat/{channel}", refuseMethod("POST"))
	mux.HandleFunc("GET /v1/runs/{ref}", d.showRun)
	mux.HandleFunc("/v1/runs/{ref}", refuseMethod("GET, HEAD"))
	mux.HandleFunc("GET /v1/runs/{ref}/events", d.streamEvents)
	mux.HandleFunc("/v1/runs/{ref}/events", refuseMethod("GET, HEAD"))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { problemNoPage().write(w) })
	return mux
}

// Close ends every event stream and every wait, so that a server can shut down;
// a reader resumes at the next one. Use it with http.Server.RegisterOnShutdown.
func (d *Door) Close() { d.close.Do(func() { close(d.closing) }) }

func refuseMethod(allowed string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allowed)
		problemMethod(allowed).write(w)
	}
}

// An Accepted is the body of a 202: the ledger holds the message.
type Accepted struct {
	Run      string `json:"run"`      // URL, as in Location
	Events   string `json:"events"`   // URL
	Session  string `json:"session"`  // the conversation
	Sequence uint64 `json:"sequence"` // of the message in its session's shard
	ID       string `json:"id"`       // of the event; the same for a repeat
}

func (d *Door) receive(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("channel")
	from, known := d.channels[name]
	if !known {
		from = d.stranger
	}
	body, fault := readBody(w, r)
	if fault != nil {
		fault.write(w)
		return
	}
	if err := from.verifier.verify(r.Header, body, d.config.Now()); err != nil {
		problemUnauthentic().write(w)
		return
	}
	event, named, fault := d.read(r, name, from.profile, body)
	if fault != nil {
		fault.write(w)
		return
	}
	receipt, err := d.deliver(r.Context(), &event, named)
	if err != nil {
		d.log.Error().Err(err).Str("channel", name).Msg("a chat message could not be published")
		publishProblem(err).write(w)
		return
	}
	d.answer(w, r, event.ID, receipt)
}

// readBody reads the body once, whole, as the sender signed it.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, problemTooLarge()
	case err != nil:
		return nil, problemUnreadable()
	}
	return body, nil
}

// read turns an authentic request into an event.
func (d *Door) read(r *http.Request, name, profile string, body []byte) (schemas.Event, bool, *Problem) {
	if !isJSON(r.Header) {
		return schemas.Event{}, false, problemMediaType()
	}
	id := r.Header.Get(headerWebhookID)
	if wrong := wrongName(id); wrong != "" {
		return schemas.Event{}, false, problemWebhookID(wrong)
	}
	message, place := decodeMessage(body)
	if place != nil {
		return schemas.Event{}, false, problemBody(*place)
	}
	event, named, err := message.event(envelope{
		channel: name, profile: profile, id: id,
		traceParent: r.Header.Get("Traceparent"), now: d.config.Now(),
	})
	if err != nil {
		return schemas.Event{}, false, problemBody(ProblemPlace{Detail: "the message cannot be written as JSON", Pointer: "#"})
	}
	return event, named, nil
}

// isJSON reports whether a body is plain JSON in UTF-8 by its headers (RFC 8259, section 8.1).
func isJSON(header http.Header) bool {
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, coding := parameters["charset"], header.Get("Content-Encoding")
	return err == nil && mediaType == schemas.MediaTypeJSON &&
		(charset == "" || strings.EqualFold(charset, "utf-8")) &&
		(coding == "" || strings.EqualFold(coding, "identity"))
}

// deliver publishes an event, or returns the receipt of an earlier delivery.
func (d *Door) deliver(ctx context.Context, event *schemas.Event, named bool) (bus.Receipt, error) {
	submit := func() (bus.Receipt, error) {
		// The outcome is awaited even if the sender has gone: its repeat wants it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.config.PublishTimeout)
		defer cancel()
		return d.intake.Submit(ctx, doorName, *event)
	}
	if !named {
		return submit()
	}
	// An id is a repeat only inside one conversation, as in the session's memory.
	return d.receipts.once(ctx, event.PartitionKey+"\x00"+event.ID, submit)
}

func publishProblem(err error) *Problem {
	switch {
	case errors.Is(err, bus.ErrFull):
		return problemFull()
	case errors.Is(err, bus.ErrTooLarge):
		return problemTooLarge()
	}
	return problemUnavailable()
}

// answer tells the sender where the run is, or, if it is ready to wait, what
// came of it. Whatever happens from here on, the message is on the ledger.
func (d *Door) answer(w http.ResponseWriter, r *http.Request, id string, receipt bus.Receipt) {
	ref := referenceOf(receipt)
	run, events := d.urls(ref)
	w.Header().Set("Location", run)
	if wait, leave := d.mayWait(w, r); wait > 0 {
		defer leave()
		document, err := d.await(r.Context(), ref, access{session: ref.session}, wait)
		switch {
		case err != nil:
			d.log.Warn().Err(err).Str("session", ref.session).Msg("an answer could not be waited for")
		case document.done():
			writeJSON(w, http.StatusOK, schemas.MediaTypeJSON, document)
			return
		}
	}
	writeJSON(w, http.StatusAccepted, schemas.MediaTypeJSON, Accepted{
		Run: run, Events: events, Session: receipt.Session, Sequence: receipt.Sequence, ID: id,
	})
}

// mayWait returns how long a request waits for an outcome: as it prefers, at
// most as configured, and not at all when every place for readers is taken.
// Leave gives the place back; it is nil without a wait.
func (d *Door) mayWait(w http.ResponseWriter, r *http.Request) (wait time.Duration, leave func()) {
	preferred, _ := preferredWait(r.Header)
	wait = min(preferred, d.config.MaxWait)
	if wait <= 0 || !d.enter() {
		return 0, nil
	}
	w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
	extendDeadline(w, r, wait)
	return wait, d.leave
}

// enter takes one of the places for readers that stay; false when all are taken.
func (d *Door) enter() bool {
	select {
	case d.readers <- struct{}{}:
		return true
	default:
		return false
	}
}

func (d *Door) leave() { <-d.readers }

// extendDeadline gives a response more time than its server gives every one. A
// server without a limit needs none: a deadline would stay on the connection and
// fall upon a later request.
func extendDeadline(w http.ResponseWriter, r *http.Request, by time.Duration) {
	if limit := writeTimeout(r); limit > 0 {
		// A writer without deadlines has none to extend.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(by + limit))
	}
}

// writeTimeout returns the limit that the server sets anew for every request.
func writeTimeout(r *http.Request) time.Duration {
	if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		return server.WriteTimeout
	}
	return 0
}
