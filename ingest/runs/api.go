package runs

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/intake"
	"podium/ingest/admission"
	"podium/ingest/problem"
	"podium/schemas"
)

// What bounds the memory that it takes to show runs. One of foldFreely records is read
// at once; of those that have more, and of searches through all that a conversation
// has seen, so many are under way at a time.
const (
	foldFreely  = 256
	foldsAtOnce = 4
)

// A Bearer knows whoever may read every run of a chat channel, by a token.
type Bearer interface {
	Reads(header http.Header) bool
}

// An API shows what becomes of messages. It is safe for use by several goroutines at once.
type API struct {
	config  Config
	bearers map[string]Bearer // by chat channel
	core    bus.Core
	intake  *intake.Intake // of answers
	log     zerolog.Logger

	readers []*places     // by shard: for the requests that wait or follow
	folding chan struct{} // holds one value for each long run that is read
	closing chan struct{}
	close   sync.Once
}

// New returns what reads a ledger. Bearers are those of the chat channels, by their name.
func New(config Config, bearers map[string]Bearer, core bus.Core, log zerolog.Logger) (*API, error) {
	if len(config.CapabilityKey) < minCapabilityKey {
		return nil, fmt.Errorf("the capability key has %d bytes: at least %d are needed", len(config.CapabilityKey), minCapabilityKey)
	}
	config = config.WithDefaults()
	readers := make([]*places, core.Shards())
	for shard := range readers {
		readers[shard] = newPlaces(config.Readers)
	}
	return &API{
		config: config, bearers: bearers, core: core, intake: intake.NewIntake(core), log: log,
		readers: readers, folding: make(chan struct{}, foldsAtOnce), closing: make(chan struct{}),
	}, nil
}

// Register adds the pages of the runs, all below /v1/runs/.
func (a *API) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/runs/{ref}", a.showRun)
	mux.HandleFunc("/v1/runs/{ref}", refuseMethod)
	mux.HandleFunc("GET /v1/runs/{ref}/events", a.streamEvents)
	mux.HandleFunc("/v1/runs/{ref}/events", refuseMethod)
	mux.HandleFunc("GET /v1/runs/{ref}/files/{hash}", a.sendFile)
	mux.HandleFunc("/v1/runs/{ref}/files/{hash}", refuseMethod)
	mux.HandleFunc("POST /v1/runs/{ref}/answers", a.takeAnswer)
	mux.HandleFunc("/v1/runs/{ref}/answers", func(w http.ResponseWriter, _ *http.Request) { problem.WriteMethod(w, "POST") })
}

func refuseMethod(w http.ResponseWriter, _ *http.Request) { problem.WriteMethod(w, "GET, HEAD") }

// Close ends every event stream and every wait; a reader resumes at the next process.
func (a *API) Close() { a.close.Do(func() { close(a.closing) }) }

// URLs returns where the run of an event is read and where its progress is followed, the
// key included, whichever adapter the event came in by.
func (a *API) URLs(receipt intake.Receipt) (run, events string) { return a.urls(referenceOf(receipt)) }

// AwaitPreferred waits for the outcome of an event, or for a question that its run asks, for as long as its sender prefers, as
// showRun does. It returns nil when the sender does not wait, or no place is left.
func (a *API) AwaitPreferred(w http.ResponseWriter, r *http.Request, receipt intake.Receipt) (*Document, error) {
	ref := referenceOf(receipt)
	wait, leave := a.mayWait(w, r, ref.session, holder{})
	if wait <= 0 {
		return nil, nil //nolint:nilnil // no wait is no error
	}
	defer leave()
	return withoutDetails(a.await(r.Context(), ref, access{session: ref.session}, wait))
}

// withoutDetails leaves out of a document that answers a message what only the run's page has: how Podium has come to the answer.
func withoutDetails(document *Document, err error) (*Document, error) {
	if document != nil {
		document.Details = nil
	}
	return document, err
}

// AwaitWithin is AwaitPreferred that waits at most so long, whatever is preferred. It returns nil when no
// place is left.
func (a *API) AwaitWithin(w http.ResponseWriter, r *http.Request, receipt intake.Receipt, wait time.Duration) (*Document, error) {
	if wait <= 0 {
		return nil, nil //nolint:nilnil // no wait is no error
	}
	ref := referenceOf(receipt)
	leave, ok := a.Place(ref.session)
	if !ok {
		return nil, nil //nolint:nilnil // as above
	}
	defer leave()
	extendDeadline(w, r, wait)
	return a.await(r.Context(), ref, access{session: ref.session}, wait)
}

// Place takes one of the places for readers that stay with a session of a shard; leave
// gives it back. It is false when all are taken.
func (a *API) Place(session string) (leave func(), ok bool) { return a.place(session, holder{}) }

func (a *API) place(session string, by holder) (leave func(), ok bool) {
	return a.readers[schemas.ShardOf(session, len(a.readers))].take(by)
}

// holderOf returns the reader that a place is for: by what it has shown, and without a token by its address too.
// Behind a token there may be the server of an installation, which reads for many people.
func holderOf(r *http.Request, granted access, session string) holder {
	by := holder{session: session}
	if len(granted.channels) == 0 {
		by.address = admission.Address(r)
	}
	return by
}

// Follow watches what becomes of an event. Close it.
func (a *API) Follow(ctx context.Context, receipt intake.Receipt) (*Watch, error) {
	return a.open(ctx, referenceOf(receipt), access{session: receipt.Session}, false)
}

// mayWait returns how long a request waits for an outcome: as it prefers, at
// most as configured, and not at all when every place for this reader is taken.
// Leave gives the place back; it is nil without a wait.
func (a *API) mayWait(w http.ResponseWriter, r *http.Request, session string, by holder) (wait time.Duration, leave func()) {
	preferred, _ := preferredWait(r.Header)
	if wait = min(preferred, a.config.MaxWait); wait <= 0 {
		return 0, nil
	}
	leave, ok := a.place(session, by)
	if !ok {
		return 0, nil
	}
	w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
	extendDeadline(w, r, wait)
	return wait, leave
}

// foldLong waits until a long run may be read; release lets the next one.
func (a *API) foldLong(ctx context.Context) (release func(), err error) {
	select {
	case a.folding <- struct{}{}:
		return func() { <-a.folding }, nil
	case <-ctx.Done():
		return func() {}, context.Cause(ctx)
	}
}

// extendDeadline gives a response more time than its server gives every one. A
// server without a limit needs none: a deadline would stay on the connection and
// fall upon a later request.
func extendDeadline(w http.ResponseWriter, r *http.Request, by time.Duration) {
	if limit := writeTimeout(r); limit > 0 {
		// A writer without deadlines has none to extena.
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
