package runs

import (
	"cmp"
	"mime"
	"net/http"
	"strings"

	"podium/bus/intake"
	"podium/ingest/admission"
	"podium/ingest/problem"
	"podium/schemas"
	"podium/schemas/workflow"
)

// MaxAnswer bounds the body of an answer, in bytes.
const MaxAnswer = 1 << 20

// answerSource is the CloudEvents source of answers.
const answerSource = "/podium/runs"

// An AnswerTaken is the body of a 202 to an answer: the ledger holds it.
type AnswerTaken struct {
	Run      string `json:"run"`      // URL of what becomes of it, as in Location
	Events   string `json:"events"`   // URL
	Session  string `json:"session"`  // the conversation
	Sequence uint64 `json:"sequence"` // of the word in its session's shard
	ID       string `json:"id"`       // of the event
	Inquiry  string `json:"inquiry"`  // what it answers
}

// A givenAnswer is the body of an answer.
type givenAnswer struct {
	Text    string `json:"text"`
	Inquiry string `json:"inquiry"` // the one that is meant; the one that is open when empty
}

// takeAnswer publishes a person's word on what a run asks its requester, for whoever may read the run. Whether it
// counts is said where its Location leads, or at once with "Prefer: wait=N", together with what comes
// of the run.
func (a *API) takeAnswer(w http.ResponseWriter, r *http.Request) {
	ref, granted, fault := a.admit(r)
	if fault != nil {
		problem.Write(w, fault)
		return
	}
	body, fault := admission.ReadBody(w, r, MaxAnswer, a.config.BodyTimeout, problemLongAnswer())
	if fault != nil {
		problem.Write(w, fault)
		return
	}
	given, fault := readAnswer(r.Header, body)
	if fault != nil {
		problem.Write(w, fault)
		return
	}
	watch, err := a.open(r.Context(), ref, granted, false)
	if err != nil {
		problem.Write(w, a.readProblem(r, ref, err))
		return
	}
	watch.Close()
	run, open := watch.Run(), watch.Asks()
	if open == nil && run != nil {
		open = run.AsksUpstream() // whoever may read the run has asked for it
	}
	if open == nil || given.Inquiry != "" && given.Inquiry != schemas.InquiryID(run.ID, open.Inquiry) {
		problem.Write(w, problemNothingAsked())
		return
	}
	control := schemas.Control{
		Action: schemas.ControlAnswer, Run: run.ID, Inquiry: open.Inquiry, Text: given.Text, By: speaker(watch.channel, run),
	}
	receipt, err := a.intake.SubmitControl(r.Context(), answerSource, schemas.ShardOf(ref.session, a.core.Shards()), &control)
	if err != nil {
		a.log.WithLevel(problem.Severity(err)).Err(err).Str("session", ref.session).Msg("an answer could not be published")
		problem.Write(w, problem.OfLedger(err, problemFull(), problemLongAnswer(), problemUnavailable()))
		return
	}
	admission.Taken(r)
	a.acknowledge(w, r, granted, ref.session, receipt, schemas.InquiryID(run.ID, open.Inquiry))
}

// acknowledge answers with where an answer leads to, or with what came of it for whoever prefers to wait.
func (a *API) acknowledge(w http.ResponseWriter, r *http.Request, granted access, session string, receipt intake.ControlReceipt, inquiry string) {
	word := reference{session: session, sequence: receipt.Sequence}
	taken := AnswerTaken{Session: session, Sequence: receipt.Sequence, ID: receipt.ID, Inquiry: inquiry}
	taken.Run, taken.Events = a.urls(word)
	w.Header().Set("Location", taken.Run)
	if wait, leave := a.mayWait(w, r, session, holderOf(r, granted, session)); wait > 0 {
		defer leave()
		document, err := withoutDetails(a.await(r.Context(), word, granted, wait))
		if err != nil {
			a.log.Warn().Err(err).Str("session", session).Msg("what becomes of an answer could not be waited for")
		} else if document.Final() {
			problem.WriteJSON(w, http.StatusOK, schemas.MediaTypeJSON, document)
			return
		}
	}
	problem.WriteJSON(w, http.StatusAccepted, schemas.MediaTypeJSON, taken)
}

// speaker is whose word an answer is: the channel's that the run came in by.
func speaker(channel string, run *workflow.RunHistory) string {
	if reply := run.Message.Reply; reply != nil {
		channel = cmp.Or(channel, reply.Channel)
	}
	return cmp.Or(channel, "api")
}

// readAnswer reads an answer in words or in JSON.
func readAnswer(header http.Header, body []byte) (given givenAnswer, fault *problem.Document) {
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, coding := cmp.Or(parameters["charset"], "utf-8"), cmp.Or(header.Get("Content-Encoding"), "identity")
	if err != nil || !strings.EqualFold(charset, "utf-8") || !strings.EqualFold(coding, "identity") {
		return given, problemAnswerType()
	}
	switch mediaType {
	case "text/plain":
		given.Text = strings.ToValidUTF8(string(body), "\uFFFD")
	case schemas.MediaTypeJSON:
		if err = schemas.Unmarshal(body, &given); err != nil {
			return given, problemAnswer()
		}
	default:
		return given, problemAnswerType()
	}
	if given.Text = strings.TrimSpace(given.Text); given.Text == "" {
		return given, problemAnswer()
	}
	return given, nil
}
