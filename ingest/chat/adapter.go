package chat

import (
	"net/http"
	"sync"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/intake"
	"podium/ingest/problem"
	"podium/ingest/runs"
	"podium/schemas"
	"podium/schemas/sentences"
)

// adapterName is the adapter's part of the subject, podium.in.chat.<p>.
const adapterName = "chat"

// A Adapter takes chat messages and shows what becomes of them. It is safe for use
// by several goroutines at once.
type Adapter struct {
	config   Config
	channels map[string]*channel
	stranger *channel // counts for channels that do not exist
	words    sentences.Catalog
	runs     *runs.API // where what became of a message is read

	core     bus.Core
	intake   *intake.Intake
	receipts *receipts
	log      zerolog.Logger

	notes sync.WaitGroup // of those who show progress
}

// A channel is one configured channel at work.
type channel struct {
	kind     schemas.ChatProvider
	profile  string
	language string
	progress bool
	provider Provider
	tally    tally
}

// New returns an adapter onto a ledger. An error names every channel that is
// configured wrongly, and no secret.
func New(config Config, core bus.Core, log zerolog.Logger) (*Adapter, error) {
	config = config.withDefaults()
	channels, err := config.channels()
	if err != nil {
		return nil, err
	}
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	bearers := make(map[string]runs.Bearer, len(channels))
	for name, channel := range channels {
		bearers[name] = channel.provider
	}
	api, err := runs.New(config.Runs, bearers, core, log)
	if err != nil {
		return nil, err
	}
	return &Adapter{
		config:   config,
		channels: channels,
		stranger: &channel{kind: schemas.ProviderWebhook},
		words:    words,
		runs:     api,
		core:     core,
		intake:   intake.NewIntake(core),
		receipts: newReceipts(config.Receipts),
		log:      log,
	}, nil
}

// Runs is where what became of an event is read, whichever adapter it came in by.
func (d *Adapter) Runs() *runs.API { return d.runs }

// Handler returns the adapter's pages and those of the runs, all below /v1/. How long a request may take
// to arrive is for the server to bound (ReadTimeout); waits and streams extend its
// WriteTimeout for themselves.
func (d *Adapter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/{channel}", d.receive)
	mux.HandleFunc("GET /v1/chat/{channel}", d.recognize)
	mux.HandleFunc("/v1/chat/{channel}", func(w http.ResponseWriter, _ *http.Request) { problem.WriteMethod(w, "GET, HEAD, POST") })
	d.runs.Register(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { problem.Write(w, problemNoPage()) })
	return mux
}

// Close ends every event stream and every wait, so that a server can shut down;
// a reader resumes at the next one. Use it with http.Server.RegisterOnShutdown.
func (d *Adapter) Close() { d.runs.Close() }

// Wait returns when nothing of the adapter works in the background any more. Call it
// after Close, once no request is served.
func (d *Adapter) Wait() { d.notes.Wait() }
