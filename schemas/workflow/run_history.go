package workflow

import (
	"errors"
	"time"

	"podium/schemas"
)

// A RunHistory is a run with all that has happened to it, as people read it.
type RunHistory struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Run
	Started    time.Time           `json:"started"`
	Settled    time.Time           `json:"settled,omitzero"`
	Ended      time.Time           `json:"ended,omitzero"`
	Percentage int                 `json:"percentage"` // of the plan's tasks, rounded down (M-33)
	Template   string              `json:"template,omitzero"`
	Complexity *schemas.Complexity `json:"complexity,omitzero"`
	Decisions  []TaskDecision      `json:"decisions,omitzero"`
	// Mismatches are answers that speak about something else than the session (G-30).
	Mismatches []schemas.EntityMismatched `json:"mismatches,omitzero"`
	Late       int                        `json:"late,omitzero"` // answers that came too late to count
	// PermitsRefused are the effects that agents were kept from.
	PermitsRefused []schemas.PermitRefused `json:"permits_refused,omitzero"`
	Replied        string                  `json:"replied,omitzero"` // Message-ID or reply id of the delivered answer
	// Withheld says why the answer is not delivered, Bounces what mail systems have
	// reported of it.
	Withheld *schemas.ReplyWithheld    `json:"withheld,omitzero"`
	Bounces  []schemas.DeliveryBounced `json:"bounces,omitzero"`
	// ResendRequested says that somebody wants the answer sent again, which waits until
	// no other run is under way; Resends counts how often that has begun.
	ResendRequested bool `json:"resend_requested,omitzero"`
	Resends         int  `json:"resends,omitzero"`

	outcome *schemas.RunSettled
}

// A TaskDecision is who does a task, and why.
type TaskDecision struct {
	Task     string                `json:"task"`
	Decision schemas.RouteDecision `json:"decision"`
}

func beginHistory(session string, f *schemas.RunStarted, now time.Time) *RunHistory {
	return &RunHistory{Run: *Begin(f), ID: schemas.RunID(session, f.Run), Session: session, Started: now}
}

// WithoutSeal returns the history as readers get it: without what only the agent that delivers
// the answer can open. Nothing is changed.
func (h *RunHistory) WithoutSeal() *RunHistory {
	shown := *h
	shown.Message.Reply = h.Message.Reply.WithoutSeal()
	return &shown
}

// Apply changes the history by one fact about the run, decided at now, or says why it may
// not follow those before it.
func (h *RunHistory) Apply(f schemas.Fact, now time.Time) error {
	err := h.Check(f)
	if err == nil {
		err = note(h, f, now)
	}
	if err != nil {
		return err
	}
	h.Run.Apply(f, now)
	h.Percentage = h.Progress()
	return nil
}

// note keeps what the run itself does not, or says why it may not follow.
func note(h *RunHistory, f schemas.Fact, now time.Time) error {
	switch f := f.(type) {
	case *schemas.ComplexityAssessed:
		if h.Complexity != nil {
			return errors.New("it is too late for it")
		}
		h.Complexity = &f.Complexity
	case *schemas.PlanCreated:
		h.Template = f.Template
	case *schemas.PlanRefused:
		h.Decisions = nil
	case *schemas.TaskRouted:
		h.Decisions = append(h.Decisions, TaskDecision{Task: f.Task, Decision: f.Decision})
	case *schemas.TaskReady, *schemas.TaskDispatched:
		if h.Withheld != nil {
			return errors.New("its answer is withheld")
		}
	case *schemas.EntityMismatched:
		h.Mismatches = append(h.Mismatches, *f)
	case *schemas.ResponseLate:
		h.Late++
	case *schemas.PermitRefused:
		h.PermitsRefused = append(h.PermitsRefused, *f)
	case *schemas.RunSettled:
		h.Settled, h.outcome = now, f
	case *schemas.RunEnded:
		h.Ended, h.Replied = now, f.Replied
	default:
		return noteDelivery(h, f)
	}
	return nil
}

// noteDelivery is note for what becomes of the answer.
func noteDelivery(h *RunHistory, f schemas.Fact) error {
	switch f := f.(type) {
	case *schemas.ReplyWithheld:
		if h.Withheld != nil {
			return errors.New("its answer is being delivered, or withheld already")
		}
		h.Withheld = f
	case *schemas.DeliveryBounced:
		h.Bounces = append(h.Bounces, *f)
	case *schemas.ResendRequested:
		if h.ResendRequested {
			return errors.New("there is nothing to send again")
		}
		h.ResendRequested = true
	case *schemas.DeliveryReopened:
		h.Ended, h.ResendRequested, h.Replied, h.Withheld = time.Time{}, false, "", nil
		h.Resends++
	default: // the run has it
	}
	return nil
}

// Decision returns the newest decision about a task, or nil.
func (h *RunHistory) Decision(task string) *schemas.RouteDecision {
	for i := len(h.Decisions) - 1; i >= 0; i-- {
		if h.Decisions[i].Task == task {
			return &h.Decisions[i].Decision
		}
	}
	return nil
}

// AnswerFailed reports whether the answer was given up, or came back.
func (h *RunHistory) AnswerFailed() bool {
	return h.Phase == PhaseComplete && h.Delivery != nil && h.Delivery.State == TaskFailed
}
