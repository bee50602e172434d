package runs

import (
	"context"
	"errors"
	"net/http"
	"time"

	"podium/bus"
	"podium/bus/history"
	"podium/ingest/admission"
	"podium/ingest/problem"
	"podium/schemas"
	"podium/schemas/workflow"
)

// A Document is a run as its reader gets it.
type Document struct {
	Run    string            `json:"run"`             // URL of this document
	Events string            `json:"events"`          // URL
	RunID  string            `json:"run_id,omitzero"` // "<session>-<n>", once there is one
	State  State             `json:"state"`
	Status schemas.RunStatus `json:"status,omitzero"` // once the outcome is fixed
	Reason string            `json:"reason,omitzero"` // machine-readable: why it ended, or why nothing came of it
	Answer string            `json:"answer,omitzero"` // the words, once the outcome is fixed
	// Files go with the answer, once the outcome is fixed.
	Files []File `json:"files,omitzero"`
	// Inquiry is what the run asks a person while it waits for their word.
	Inquiry *Inquiry `json:"inquiry,omitzero"`
	// Language is that of the answer (BCP 47 primary tag), once there is a run.
	Language string `json:"language,omitzero"`
	// Details is everything known about the run, in its words on the ledger. The run's page has it alone: not what answers a message.
	Details *workflow.RunHistory `json:"details,omitzero"`
}

// An Inquiry is a question that is open.
type Inquiry struct {
	ID       string                `json:"id"` // "<session>-<n>.<k>"
	Kind     schemas.HumanTaskKind `json:"kind"`
	Question string                `json:"question"`
	Expires  time.Time             `json:"expires,omitzero"` // when nobody waits for a word any more; none before somebody was asked
	// People are who is asked, by name, when that is not who has begun the run.
	People []string `json:"people,omitzero"`
}

// State is how far a message or its run is: that of workflow.Phase or one of these. It is complete with the outcome, which nothing changes
// any more; whether the answer has reached who asked is among the details.
type State string

// The states that are not a run's.
const (
	StateAccepted State = "accepted" // on the ledger, not looked at yet
	StateQueued   State = "queued"   // waits until the run before it has ended
	StateIgnored  State = "ignored"  // needs no answer
	StateRefused  State = "refused"  // asked for something that is not possible any more
	StateBlocked  State = "blocked"  // somebody is asked what is done about a failure, and nothing goes on meanwhile
)

// Done reports whether the document says what came of the message.
func (d *Document) Done() bool {
	return d.Status != "" || d.State == StateIgnored || d.State == StateRefused
}

// Final reports whether nothing more is to be waited for by whoever has sent the message: it says what came of
// it, or what they are asked themselves.
func (d *Document) Final() bool { return d.Done() || d.Inquiry != nil && len(d.Inquiry.People) == 0 }

// document describes what the watch has seen so far.
func (w *Watch) document(ctx context.Context) (*Document, error) {
	made := &Document{State: StateAccepted}
	made.Run, made.Events = w.api.urls(w.ref)
	if w.dropped() {
		message := w.excerpt.Message()
		made.Reason, made.State = message.Reason, StateIgnored
		if message.Disposition == schemas.DispositionRefused {
			made.State = StateRefused
		}
		return made, nil
	}
	number := w.excerpt.Number
	if number == 0 {
		return made, nil
	}
	if made.RunID = schemas.RunID(w.ref.session, number); w.undecided() {
		return made, nil
	}
	run := w.excerpt.Run()
	if run == nil {
		made.State = StateQueued
		return made, nil
	}
	made.Language = w.language
	shown := shownRun(run)
	made.State, made.Status, made.Reason, made.Details = State(run.Phase), run.Status, string(run.Reason), shown
	if run.Blocked() {
		made.State = StateBlocked
	}
	if open := w.WaitsFor(); open != nil {
		made.Inquiry = &Inquiry{
			ID: schemas.InquiryID(made.RunID, open.Inquiry), Kind: open.Kind, Question: open.Question, Expires: open.Expires(), People: open.People,
		}
	}
	if run.AnswerHeld() { // nobody has agreed that it is told
		shown.Answer, shown.Notes, shown.Summary = nil, "", ""
		if run.Phase != workflow.PhaseComplete {
			made.Status, made.Reason = "", ""
		}
		return made, nil
	}
	if run.Status == "" {
		return made, nil
	}
	made.State = State(workflow.PhaseComplete)
	var err error
	if made.Files, err = w.api.files(ctx, w.ref, run); err != nil {
		return made, err
	}
	made.Answer, err = history.AnswerText(ctx, w.api.core, *run)
	return made, err
}

// await reads a reference until the outcome is fixed, its requester is asked, or the time is up.
func (a *API) await(ctx context.Context, ref reference, granted access, wait time.Duration) (*Document, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	w, err := a.open(ctx, ref, granted, false)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if wait == 0 && w.doubt != nil {
		if err = w.read(ctx, true); err != nil {
			return nil, err
		}
	}
	for wait > 0 && !w.Settled() && !w.asked() {
		_, ok, err := w.Next(ctx, timer.C)
		if errors.Is(err, ErrClosing) || err == nil && !ok {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return w.document(ctx)
}

// showRun answers 200 with the run, however far it is, and 202 while the session
// has not looked at its message. With "Prefer: wait=N" it waits for the outcome, or for a question.
func (a *API) showRun(w http.ResponseWriter, r *http.Request) {
	ref, granted, fault := a.admit(r)
	if fault != nil {
		problem.Write(w, fault)
		return
	}
	wait, leave := a.mayWait(w, r, ref.session, holderOf(r, granted, ref.session))
	if wait > 0 {
		defer leave()
	}
	document, err := a.await(r.Context(), ref, granted, wait)
	if err != nil {
		problem.Write(w, a.readProblem(r, ref, err))
		return
	}
	status := http.StatusOK
	if document.State == StateAccepted {
		status = http.StatusAccepted
		w.Header().Set("Retry-After", "1")
	}
	problem.WriteJSON(w, status, schemas.MediaTypeJSON, document)
}

// admit reads the reference of a request and what its reader may see.
func (a *API) admit(r *http.Request) (reference, access, *problem.Document) {
	ref, ok := parseReference(r.PathValue("ref"))
	granted, some := a.access(r, ref)
	switch {
	case !some:
		return ref, granted, problemUnauthorized()
	case !ok:
		return ref, granted, problemUnknownRun()
	}
	admission.Known(r)
	return ref, granted, nil
}

func (a *API) readProblem(r *http.Request, ref reference, err error) *problem.Document {
	if errors.Is(err, errNoRun) {
		return problemUnknownRun()
	}
	if r.Context().Err() != nil {
		return problemUnreadableRun() // nobody is there to read it
	}
	if errors.Is(err, bus.ErrTooManyReaders) {
		return problemBusy()
	}
	a.log.Error().Err(err).Str("session", ref.session).Msg("a session could not be read")
	var malformed *bus.MalformedError
	if errors.Is(err, workflow.ErrGrammar) || errors.As(err, &malformed) {
		return problemBrokenRun()
	}
	return problemUnreadableRun()
}
