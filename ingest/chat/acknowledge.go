package chat

import (
	"net/http"

	"podium/ingest/problem"
	"podium/schemas"
)

// An Accepted is the body of a 202: the ledger holds the message.
type Accepted struct {
	Run      string `json:"run"`      // URL, as in Location
	Events   string `json:"events"`   // URL
	Session  string `json:"session"`  // the conversation
	Sequence uint64 `json:"sequence"` // of the message in its session's shard
	ID       string `json:"id"`       // of the event; the same for a repeat
}

// A Batch is the body of a 202 to a list of messages: the ledger holds those that
// are accepted, in their order.
type Batch struct {
	Accepted []Accepted     `json:"accepted"`
	Refused  []ProblemPlace `json:"refused,omitzero"` // correct and send only these again
}

// Acknowledge implements Provider: a message with the URL of its run, or with what
// came of it when the sender prefers to wait; a list with the URLs.
func (*standard) Acknowledge(e *exchange, results []result) {
	if len(results) == 1 && results[0].message.Fault == nil && !results[0].message.inBatch {
		e.accept(results[0])
		return
	}
	batch := Batch{Accepted: []Accepted{}}
	for i := range results {
		if fault := results[i].message.Fault; fault != nil {
			batch.Refused = append(batch.Refused, *fault)
			continue
		}
		batch.Accepted = append(batch.Accepted, e.accepted(results[i]))
	}
	if len(batch.Accepted) > 0 {
		problem.WriteJSON(e.writer, http.StatusAccepted, schemas.MediaTypeJSON, batch)
		return
	}
	told := problemBody(batch.Refused[0])
	told.Errors = batch.Refused
	problem.Write(e.writer, told)
}

func (e *exchange) accepted(r result) Accepted {
	run, events := e.adapter.runs.URLs(r.receipt)
	return Accepted{Run: run, Events: events, Session: r.receipt.Session, Sequence: r.receipt.Sequence, ID: r.id}
}

// accept tells the sender where the run is, or, if it is ready to wait, what
// came of it or what it asks. Whatever happens from here on, the message is on the ledger.
func (e *exchange) accept(taken result) {
	told := e.accepted(taken)
	e.writer.Header().Set("Location", told.Run)
	document, err := e.adapter.runs.AwaitPreferred(e.writer, e.request, taken.receipt)
	switch {
	case err != nil:
		e.adapter.log.Warn().Err(err).Str("session", taken.receipt.Session).Msg("an answer could not be waited for")
	case document != nil && document.Final():
		problem.WriteJSON(e.writer, http.StatusOK, schemas.MediaTypeJSON, document)
		return
	}
	problem.WriteJSON(e.writer, http.StatusAccepted, schemas.MediaTypeJSON, told)
}
