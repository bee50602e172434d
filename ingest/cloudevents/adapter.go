package cloudevents

import (
	"net/http"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/intake"
	"podium/ingest/problem"
)

// adapterName is the adapter's part of the subject, podium.in.http.<p>.
const adapterName = "http"

// A Adapter takes events. It is safe for use by several goroutines at once.
type Adapter struct {
	config   Config
	sources  map[string]*source
	stranger *source // counts for sources that do not exist
	intake   *intake.Intake
	log      zerolog.Logger
	places   chan struct{} // holds one value for each request that is worked on
}

// A source is one configured source at work.
type source struct {
	Source
	name      string
	allowance *allowance
	tally     tally
}

// New returns an adapter onto a ledger. An error names every source that is configured
// wrongly.
func New(config Config, core bus.Core, log zerolog.Logger) (*Adapter, error) {
	config = config.withDefaults()
	sources, err := config.sources()
	if err != nil {
		return nil, err
	}
	return &Adapter{
		config:   config,
		sources:  sources,
		stranger: &source{},
		intake:   intake.NewIntake(core),
		log:      log,
		places:   make(chan struct{}, config.Requests),
	}, nil
}

// Handler returns the adapter's pages, all below /v1/events/.
func (d *Adapter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/events/{source}", d.receive)
	mux.HandleFunc("OPTIONS /v1/events/{source}", d.handshake)
	mux.HandleFunc("/v1/events/{source}", func(w http.ResponseWriter, _ *http.Request) { problem.WriteMethod(w, http.MethodPost) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { problem.Write(w, problemNoPage()) })
	return mux
}

// source returns who a request claims to come from.
func (d *Adapter) source(r *http.Request) *source {
	if known, ok := d.sources[r.PathValue("source")]; ok {
		return known
	}
	return d.stranger
}
