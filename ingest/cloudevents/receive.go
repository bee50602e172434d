package cloudevents

import (
	"context"
	"net/http"
	"strings"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/intake"
	"podium/ingest/admission"
	"podium/ingest/problem"
	"podium/schemas"
)

// An Accepted says that the ledger holds an event. The body of a 202 is one, or a
// Batch of them.
type Accepted struct {
	Event    int    `json:"event"`    // its index in the batch; 0 is first
	Run      string `json:"run"`      // URL
	Events   string `json:"events"`   // URL of the run's progress
	Session  string `json:"session"`  // the conversation
	Sequence uint64 `json:"sequence"` // of the event in its session's shard
	ID       string `json:"id"`       // of the event on the ledger; the same for a repeat
}

// A Batch is the body of a 202 to a batch.
type Batch struct {
	Accepted []Accepted `json:"accepted"`
}

// A decoded is one event of a request, or what is wrong with it.
type decoded struct {
	event *event.Event
	fault *Fault
}

// receive is the one way of a request: raw body, verification, the events in it,
// the ledger's acknowledgments, the answer. Nothing of a body is read for a source
// that does not exist or from a sender who shows no proof, and whoever is not known takes no place from those who are.
func (d *Adapter) receive(w http.ResponseWriter, r *http.Request) {
	from := d.source(r)
	if r.URL.Query().Has("access_token") {
		from.dismiss(w, r, problemQueryToken())
		return
	}
	if from == d.stranger || !from.Verifier.Claims(r.Header, d.config.Now()) {
		from.dismiss(w, r, problemUnauthentic())
		return
	}
	body, fault := admission.ReadBody(w, r, MaxBody, d.config.BodyTimeout, problemTooLarge())
	if fault != nil {
		from.refuse(w, fault)
		return
	}
	if !from.Verifier.Verify(body, r.Header, d.config.Now()) {
		from.dismiss(w, r, problemUnauthentic())
		return
	}
	admission.Known(r)
	if refusal := d.admit(from, r.Header); refusal != nil {
		from.refuse(w, refusal)
		return
	}
	select {
	case d.places <- struct{}{}:
		defer func() { <-d.places }()
	default:
		from.refuse(w, problemBusy())
		return
	}
	events, batch, refusal := read(from, r.Header, body)
	if refusal != nil {
		from.refuse(w, refusal)
		return
	}
	accepted, faults, err := d.take(r, from, events)
	if err != nil {
		from.tally.failed.Add(1)
		d.log.WithLevel(problem.Severity(err)).Err(err).Str("source", from.name).Msg("an event could not be published")
		problem.Write(w, problem.OfLedger(err, problemFull(), problemTooLarge(), problemUnavailable()))
		return
	}
	answer(w, batch, accepted, faults)
}

func answer(w http.ResponseWriter, batch bool, accepted []Accepted, faults []Fault) {
	switch {
	case len(faults) > 0:
		problem.Write(w, problemEvents(batch, accepted, faults))
	case batch:
		problem.WriteJSON(w, http.StatusAccepted, schemas.MediaTypeJSON, Batch{Accepted: accepted})
	default:
		w.Header().Set("Location", accepted[0].Run)
		problem.WriteJSON(w, http.StatusAccepted, schemas.MediaTypeJSON, accepted[0])
	}
}

// dismiss refuses a sender whom nothing proves.
func (s *source) dismiss(w http.ResponseWriter, r *http.Request, refusal *problem.Document) {
	admission.Dismiss(w, r)
	s.refuse(w, refusal)
}

// refuse tells the sender that nothing was taken.
func (s *source) refuse(w http.ResponseWriter, refusal problem.Problem) {
	s.tally.refused.Add(1)
	problem.Write(w, refusal)
}

// admit checks whether a sender may send this now.
func (d *Adapter) admit(from *source, header http.Header) *problem.Document {
	if wait := from.allowance.take(d.config.Now()); wait > 0 {
		return problemRate(wait)
	}
	if coding := header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return problemFormat()
	}
	return nil
}

// read takes a request apart. A refusal is of the request as a whole.
func read(from *source, header http.Header, body []byte) (events []decoded, batch bool, refusal problem.Problem) {
	mode, err := modeOf(header)
	if err != nil {
		return nil, false, problemFormat()
	}
	var one decoded
	switch mode {
	case modeBinary:
		if !from.Verifier.Reads(header) {
			return nil, false, problemUnsigned()
		}
		one.event, one.fault = readBinary(header, body)
	case modeStructured:
		one.event, one.fault = readStructured(body)
	case modeBatch:
		events, refusal = readBatch(body)
		return events, true, refusal
	}
	return []decoded{one}, false, nil
}

// readBatch reads a list of events. One that is wrong takes no other one along.
func readBatch(body []byte) ([]decoded, problem.Problem) {
	var list []jsontext.Value
	if err := schemas.Unmarshal(body, &list); err != nil || list == nil {
		return nil, problemEvents(false, nil, []Fault{{Detail: "a batch is a list of events in JSON"}})
	}
	if len(list) > MaxBatch {
		return nil, problemTooMany()
	}
	events := make([]decoded, len(list))
	for i := range list {
		events[i].event, events[i].fault = readStructured(list[i])
	}
	return events, nil
}

// take brings the events onto the ledger, one after the other. It fails with the
// first that the ledger does not take: the sender's repeat brings all of them again,
// and those that were taken change nothing.
func (d *Adapter) take(r *http.Request, from *source, events []decoded) (accepted []Accepted, faults []Fault, err error) {
	accepted = make([]Accepted, 0, len(events))
	for i := range events {
		made, fault := schemas.Event{}, events[i].fault
		if fault == nil {
			made, fault = d.ledgerEvent(from, events[i].event, r.Header)
		}
		if fault != nil {
			from.tally.refused.Add(1)
			fault.Event = i
			faults = append(faults, *fault)
			continue
		}
		receipt, err := d.submit(r.Context(), &made)
		if err != nil {
			return nil, nil, err
		}
		from.tally.accepted.Add(1)
		accepted = append(accepted, d.receipt(i, made.ID, receipt))
	}
	return accepted, faults, nil
}

// submit waits for the ledger even if the sender has gone: its repeat wants to know.
func (d *Adapter) submit(ctx context.Context, made *schemas.Event) (intake.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.config.PublishTimeout)
	defer cancel()
	return d.intake.Submit(ctx, adapterName, *made)
}
