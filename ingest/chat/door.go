package chat

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/intake"
	"podium/ingest/problem"
	"podium/schemas"
)

// doorName is the door's part of the subject, podium.in.chat.<p>.
const doorName = "chat"

// What bounds the memory that it takes to show runs. One of foldFreely records is read
// at once; of those that have more, and of searches through all that a conversation
// has seen, so many are under way at a time.
const (
	foldFreely  = 256
	foldsAtOnce = 4
)

// A Door takes chat messages and shows what becomes of them. It is safe for use
// by several goroutines at once.
type Door struct {
	config        Config
	channels      map[string]*channel
	stranger      *channel // counts for channels that do not exist
	words         schemas.Sentences
	capabilityKey []byte
	baseURL       string

	core     bus.Core
	intake   *intake.Intake
	receipts *receipts
	log      zerolog.Logger

	readers []chan struct{} // by shard: one value for each request that waits or follows
	folding chan struct{}   // holds one value for each long run that is read
	closing chan struct{}
	close   sync.Once
	notes   sync.WaitGroup // of those who show progress
}

// A channel is one configured channel at work.
type channel struct {
	kind     Kind
	profile  string
	language string
	progress bool
	provider Provider
	tally    tally
}

// New returns a door onto a ledger. An error names every channel that is
// configured wrongly, and no secret.
func New(config Config, core bus.Core, log zerolog.Logger) (*Door, error) {
	config = config.withDefaults()
	channels, err := config.channels()
	if err != nil {
		return nil, err
	}
	words, err := schemas.ReadSentences(wordsFile)
	if err != nil {
		return nil, err
	}
	readers := make([]chan struct{}, core.Shards())
	for shard := range readers {
		readers[shard] = make(chan struct{}, config.Readers)
	}
	return &Door{
		config:        config,
		channels:      channels,
		stranger:      &channel{kind: KindWebhook},
		words:         words,
		capabilityKey: config.CapabilityKey,
		baseURL:       config.BaseURL,
		core:          core,
		intake:        intake.NewIntake(core),
		receipts:      newReceipts(config.Receipts),
		log:           log,
		readers:       readers,
		folding:       make(chan struct{}, foldsAtOnce),
		closing:       make(chan struct{}),
	}, nil
}

// Handler returns the door's pages, all below /v1/. How long a request may take
// to arrive is for the server to bound (ReadTimeout); waits and streams extend its
// WriteTimeout for themselves.
func (d *Door) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/{channel}", d.receive)
	mux.HandleFunc("GET /v1/chat/{channel}", d.recognize)
	mux.HandleFunc("/v1/chat/{channel}", refuseMethod("GET, HEAD, POST"))
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

// Wait returns when nothing of the door works in the background any more. Call it
// after Close, once no request is served.
func (d *Door) Wait() { d.notes.Wait() }

func refuseMethod(allowed string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { problem.WriteMethod(w, allowed) }
}

// mayWait returns how long a request waits for an outcome: as it prefers, at
// most as configured, and not at all when every place for readers is taken.
// Leave gives the place back; it is nil without a wait.
func (d *Door) mayWait(w http.ResponseWriter, r *http.Request, session string) (wait time.Duration, leave func()) {
	preferred, _ := preferredWait(r.Header)
	wait = min(preferred, d.config.MaxWait)
	if wait <= 0 || !d.enter(session) {
		return 0, nil
	}
	w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
	extendDeadline(w, r, wait)
	return wait, func() { d.leave(session) }
}

// foldLong waits until a long run may be read; release lets the next one.
func (d *Door) foldLong(ctx context.Context) (release func(), err error) {
	select {
	case d.folding <- struct{}{}:
		return func() { <-d.folding }, nil
	case <-ctx.Done():
		return func() {}, context.Cause(ctx)
	}
}

// enter takes one of the places for readers that stay with a session of a shard;
// false when all are taken.
func (d *Door) enter(session string) bool {
	select {
	case d.places(session) <- struct{}{}:
		return true
	default:
		return false
	}
}

func (d *Door) leave(session string) { <-d.places(session) }

func (d *Door) places(session string) chan struct{} {
	return d.readers[schemas.ShardOf(session, len(d.readers))]
}

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
