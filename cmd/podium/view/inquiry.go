package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/cmd/podium/chronicle"
	"podium/schemas"
	"podium/schemas/workflow"
)

// Person is who is asked by an inquiry, on one line.
func Person(run *workflow.RunHistory, inquiry *workflow.Inquiry) string {
	message := &run.Message
	switch author := message.Author; {
	case inquiry.Upstream:
		return "whoever is upstream"
	case len(inquiry.People) > 0:
		return Line(strings.Join(inquiry.People, ", "), shortLength)
	case author != nil && author.Address != "":
		return Line(author.Address, shortLength)
	case author != nil && cmp.Or(author.User, author.Name) != "":
		return Line(cmp.Or(author.User, author.Name), shortLength)
	case message.Reply != nil && len(message.Reply.To) > 0:
		return Line(message.Reply.To[0].Address, shortLength)
	}
	return "the requester"
}

// Word is what a person has said to an inquiry: what, who, by what way and when.
func Word(inquiry *workflow.Inquiry) string {
	word := inquiry.Answered
	told := chosen(word.Choice) + " by " + who(word.Actor) + " at " + inquiry.Ended.Local().Format(time.DateTime)
	if text := short(word.Text.Text); text != "" {
		told += ": " + text
	}
	return told
}

// who names an actor, the way that the word came, and how far it is known that it is them.
func who(actor schemas.Actor) string {
	told := cmp.Or(Line(actor.ID, shortLength), "somebody") + " by " + string(actor.Via)
	if actor.Via == schemas.ViaCLI {
		told = atCommandLine(actor.ID, actor.As)
	}
	if actor.Proof != "" {
		told += " (" + Spoken(actor.Proof) + ")"
	}
	return told
}

// atCommandLine names who has said something there: the operating system's user, and for whom, as they say.
func atCommandLine(user, as string) string {
	told := cmp.Or(Line(user, shortLength), "somebody") + " at the command line"
	if as != "" {
		told += ", for " + Line(as, shortLength)
	}
	return told
}

// inquiryState is what has become of an inquiry, in a word.
func inquiryState(inquiry *workflow.Inquiry) string {
	switch {
	case inquiry.Closed != "":
		return Spoken(inquiry.Closed)
	case inquiry.Open():
		return "open"
	}
	return chosen(inquiry.Answered.Choice)
}

func chosen(choice schemas.InquiryChoice) string {
	switch choice {
	case schemas.ChoiceReject:
		return "rejected"
	case schemas.ChoiceRaise:
		return "raised"
	case schemas.ChoiceRetry, schemas.ChoiceSkip, schemas.ChoiceReplan, schemas.ChoiceEnd:
		return "decided: " + string(choice)
	case schemas.ChoiceApprove:
		return "approved"
	case schemas.ChoiceAnswer:
	}
	return "answered"
}

// inquiry tells a question that a run has asked, and what has become of it.
func inquiry(line func(string, ...any), run *workflow.RunHistory, kept *chronicle.Run, asked *workflow.Inquiry) {
	line("? %-8s %-10s %-10s %s", strconv.Itoa(asked.Inquiry), asked.Task, inquiryState(asked), Line(asked.Question, detailLength))
	line("           asks: %s (%s)", Person(run, asked), string(asked.Kind))
	if !asked.Asked.IsZero() {
		told := "since " + asked.Asked.Local().Format(time.DateTime) + ", until " + asked.Expires().Local().Format(time.DateTime)
		if asked.Notices > 1 {
			told += ", reminded"
		}
		line("           waits: %s", told)
	}
	if letter, why := LetterOf(run, asked); asked.Open() && why != "" {
		line("           %s: %s", letter.Trouble(), why)
	}
	for _, word := range asked.Agreed {
		line("           agreed by %s, of %d", who(word.Actor), asked.Need)
	}
	switch {
	case asked.Answered != nil:
		line("           %s", Word(asked))
		for _, edit := range edits(run, kept, asked) {
			line("           changed: %s", edit)
		}
	case asked.Closed != "":
		line("           closed at %s: %s", asked.Ended.Local().Format(time.DateTime), Spoken(asked.Closed))
	default:
		line("           next: %s", HowToAnswer(asked.Kind, asked.Choices, schemas.InquiryID(run.ID, asked.Inquiry)))
	}
}

// Control tells what a person has said, by whom and why; the words of an answer stand where it is taken.
func Control(control *schemas.Control) string {
	told := Spoken(control.Action) + " by " + cmp.Or(Line(control.By, shortLength), "somebody")
	if control.Via == schemas.ViaCLI {
		told = Spoken(control.Action) + " by " + atCommandLine(control.By, control.As)
	}
	if reason := Line(control.Reason, detailLength); reason != "" {
		told += ": " + reason
	}
	return told
}

// HowToAnswer is the command that answers an inquiry of a kind, by its id; what is said goes behind it, unless it is that a task is tried once more, where that is one of the choices.
func HowToAnswer(kind schemas.HumanTaskKind, choices []schemas.InquiryChoice, id string) string {
	switch kind {
	case schemas.HumanTaskApproval, schemas.HumanTaskAnswerApproval:
		return "podium approve " + id
	case schemas.HumanTaskBudget:
		return "podium raise " + id
	case schemas.HumanTaskFailure, schemas.HumanTaskReview:
		if slices.Contains(choices, schemas.ChoiceRetry) {
			return "podium answer " + id + " retry"
		}
	case schemas.HumanTaskInput, schemas.HumanTaskWork:
	}
	return "podium answer " + id
}

// open returns what a run waits with for a person: what its requester is asked, else what others are asked to do; nil
// without any. More is how many there are beside.
func open(run *workflow.RunHistory) (first *workflow.Inquiry, more int) {
	first = run.OpenInquiry()
	for _, inquiry := range run.Inquiries {
		switch {
		case !inquiry.Open() || inquiry == first:
		case first == nil:
			first = inquiry
		default:
			more++
		}
	}
	return first, more
}

// Asks tells the question that a run waits with, and how it is answered; empty without any.
func Asks(run *workflow.RunHistory) []string {
	asked, more := open(run)
	if asked == nil {
		return nil
	}
	told := []string{"asks: " + Line(asked.Question, detailLength), "answer it: " + HowToAnswer(asked.Kind, asked.Choices, schemas.InquiryID(run.ID, asked.Inquiry))}
	if more > 0 {
		told = append(told, fmt.Sprintf("more: %d are open beside it, see podium inbox", more))
	}
	return told
}

// argumentsLine tells what an agent is given beside what the plan says, what it lacks, and what people are asked about because it may be meant otherwise, be it
// needed or not; not the values.
func argumentsLine(f *schemas.ArgumentsFilled) string {
	if f.Edited {
		return "" // whoever agrees has changed them, which is told of their word
	}
	line := fmt.Sprintf("%s: %d arguments of %s are filled", f.Task, len(f.Sources), f.Agent)
	var missing, unsure []string
	for i := range f.Missing {
		if need := &f.Missing[i]; len(need.Readings) > 0 {
			unsure = append(unsure, need.Name)
		} else {
			missing = append(missing, need.Name)
		}
	}
	if len(missing) > 0 {
		line += "; missing: " + strings.Join(missing, ", ")
	}
	if len(unsure) > 0 {
		line += "; read and not sure: " + strings.Join(unsure, ", ")
	}
	return line
}

// inquiryLine tells a fact about an inquiry in a line.
func inquiryLine(session string, f schemas.Fact) string {
	switch f := f.(type) {
	case *schemas.InquiryOpened:
		if f.Adopts != nil {
			return fmt.Sprintf("%s: waits for the answer that run %d has asked for: %s", f.Task, f.Adopts.Letters[0].Run, Line(f.Question, detailLength))
		}
		return fmt.Sprintf("%s: has question %s (%s): %s", f.Task, schemas.InquiryID(schemas.RunID(session, f.Run), f.Inquiry), f.Kind, Line(f.Question, detailLength))
	case *schemas.InquiryAnswered:
		line := fmt.Sprintf("question %d: %s by %s", f.Inquiry, chosen(f.Choice), who(f.Actor))
		if f.Amount != nil {
			line += ", by " + Amount(*f.Amount)
		}
		if len(f.Arguments) > 0 {
			line += ", who has changed the arguments to " + Line(string(f.Arguments), detailLength)
		}
		if f.Lacking > 0 {
			line = fmt.Sprintf("question %d: agreed by %s, and %d more have to", f.Inquiry, who(f.Actor), f.Lacking)
		}
		if text := short(f.Text.Text); text != "" {
			line += ": " + text
		}
		return line
	case *schemas.InquiryClosed:
		return fmt.Sprintf("question %d: closed without an answer, %s", f.Inquiry, Spoken(f.Reason))
	default:
		return ""
	}
}
