package session_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// applyWord is what a person says to the service itself.
func (s *story) word(tb testing.TB, d *datadriven.TestData) schemas.Event {
	tb.Helper()
	said := schemas.Control{
		Action: schemas.ControlAnswer, Run: schemas.RunID(s.state.Session, number(tb, d, "run", 1)), By: text(d, "by", "operator"),
		Inquiry: number(tb, d, "inquiry", 0), Text: words(d),
	}
	if user := text(d, "user", ""); user != "" {
		said.Via, said.By, said.As = schemas.ViaCLI, user, text(d, "as", "")
	}
	switch {
	case d.HasArg("reject"):
		said.Action = schemas.ControlReject
	case d.HasArg("replan"):
		if said.Action = schemas.ControlReplan; strings.HasPrefix(said.Text, "[") {
			said.Text, said.Tasks = "", jsontext.Value(said.Text)
		}
	case d.HasArg("approve"):
		said.Action = schemas.ControlApprove
	case d.HasArg("raise"):
		said.Action = schemas.ControlRaise
		if tokens := number(tb, d, "tokens", 0); tokens > 0 {
			said.Amount = &schemas.Usage{Tokens: int64(tokens)}
		}
	}
	if request := text(d, "request", ""); request != "" { // whoever is upstream says it
		said.Run, said.Request, said.By = "", s.events[request].ID, ""
	}
	if said.Hash = text(d, "hash", ""); said.Hash == "asked" {
		said.Hash = s.state.Active.Inquiry(number(tb, d, "inquiry", 1)).Hash
	}
	if change := text(d, "arguments", ""); change != "" {
		said.Arguments = jsontext.Value(change)
	}
	return s.event(tb, text(d, "id", ""), schemas.TypeControl, said)
}

// letterNamed is the letter that a mail names, written as run and inquiry; nil when it names none.
func (s *story) letterNamed(named string) *schemas.Letter {
	run, inquiry, _ := strings.Cut(named, ".")
	number, err := strconv.Atoi(run)
	if err != nil {
		return nil
	}
	letter := &schemas.Letter{Run: schemas.RunID(s.state.Session, number)}
	letter.Inquiry, _ = strconv.Atoi(inquiry)
	return letter
}

// inquiry writes down a fact about a question to a person.
func (s *story) inquiry(f schemas.Fact) string {
	switch f := f.(type) {
	case *schemas.ArgumentsFilled:
		told := []string{fmt.Sprintf("run %d %s arguments of %s: %s", f.Run, f.Task, f.Agent, f.Values)}
		for i := range f.Missing {
			told = append(told, "lacks "+f.Missing[i].Name)
		}
		for _, refused := range f.Refused {
			told = append(told, "refuses "+code(refused))
		}
		return strings.Join(told, ", ")
	case *schemas.InquiryOpened:
		told := fmt.Sprintf("run %d %s asks (inquiry %d, %s): %q", f.Run, f.Task, f.Inquiry, f.Kind, f.Question)
		if f.Attempt > 0 {
			told += fmt.Sprintf(" instead of attempt %d", f.Attempt)
		}
		if f.Adopts != nil {
			told += fmt.Sprintf(", adopted from %v, asked at %s", f.Adopts.Letters, s.clock(f.Adopts.Asked))
			if f.Adopts.Uncertain != nil {
				told += ", if that has gone out"
			}
			if len(f.Adopts.Bounced) > 0 {
				told += ", without " + strings.Join(f.Adopts.Bounced, ", ")
			}
		}
		if f.Operation != nil {
			told += fmt.Sprintf(" about %s %s", f.Operation.Name, f.Operation.Arguments)
		}
		if short := f.Shortage; short != nil {
			told += amount(" since it needs ", &short.Need) + amount(" and is offered ", &short.Offer)
		}
		told += used(f.Usage)
		if f.Kind.IsRestricted() && len(f.People) > 0 {
			told += " of " + strings.Join(f.People, " or ")
		}
		if f.Upstream {
			told += " of whoever is upstream"
		}
		return told + fmt.Sprintf(", again after %s, until after %s", time.Duration(f.Remind), time.Duration(f.Expire))
	case *schemas.InquiryAnswered:
		proof := string(f.Actor.Proof)
		if f.Actor.Via == schemas.ViaCLI {
			proof = "for " + cmp.Or(f.Actor.As, "nobody")
		}
		told := fmt.Sprintf("run %d inquiry %d: %s by %s by %s (%s): %s", f.Run, f.Inquiry, f.Choice, f.Actor.ID, f.Actor.Via, proof, body(f.Text))
		if len(f.Values) > 0 {
			told += " says " + string(f.Values)
		}
		if len(f.Arguments) > 0 {
			told += " with " + string(f.Arguments)
		}
		told += amount(", more by ", f.Amount)
		if f.Lacking > 0 {
			told += fmt.Sprintf(", and %d more", f.Lacking)
		}
		return told
	case *schemas.InquiryClosed:
		return fmt.Sprintf("run %d inquiry %d closed: %s", f.Run, f.Inquiry, f.Reason)
	default:
		return f.Name()
	}
}

// resumed tells when a run ends by itself, once it goes on after it has rested.
func (s *story) resumed() string {
	was, is := s.formers[len(s.formers)-1].Active, s.state.Active
	if was == nil || is == nil || was.Number != is.Number || was.Expires.Equal(is.Expires) {
		return ""
	}
	return fmt.Sprintf("  run %d has until %s\n", is.Number, s.clock(is.Expires))
}
