package sim

import (
	"slices"
	"strings"
	"time"

	"podium/schemas"
)

// The invariants that speak of people who do work.
const (
	WorkIsHanded     = "work is handed to those whom its agent names, where they are reached now, and to nobody else"
	WordsOfTheStaff  = "a word on work counts when it is of one of those who were asked and still work there, or the service's own, and names it"
	WorkIsWhatTheyDo = "work is done by a person's word and is what they have written, and nothing comes of one that declines"
)

// work reports whether people are asked to do a task, and not its requester for what it lacks.
func (i *inquiry) work() bool { return i.fact.Kind == schemas.InquiryWork }

// person says who does the tasks of an agent, or nil when it is no person.
func (r *run) person(agent string) *schemas.PersonPolicy {
	for n := range r.profile.Agents {
		if use := &r.profile.Agents[n]; use.Name == agent {
			return use.Person
		}
	}
	return nil
}

// reached are the addresses of those of some people whom one account writes to, as the profile in force says.
func (o *oracle) reached(m *moment, people []string) []schemas.Address {
	var to []schemas.Address
	account := ""
	for _, name := range people {
		person, works := o.profile(m.cause.Profile).People[name]
		if !works || account != "" && person.Account != account {
			continue
		}
		account, to = person.Account, append(to, schemas.Address{Address: person.Mail})
	}
	return to
}

// workIsHanded holds an inquiry to the profiles, and requests too: no task of a person is any machine's.
func (o *oracle) workIsHanded(m *moment) {
	t := m.task
	if t == nil {
		return
	}
	if f := schemas.As[*schemas.InquiryOpened](m.fact); f != nil && f.Kind == schemas.InquiryWork {
		does, to := m.run.person(t.agent), o.reached(m, f.People)
		switch {
		case does == nil || t.planned == nil || m.run.settled != nil || t.state.ended() || t.state == taskUnderWay || m.run.awaits(t):
			o.world.violate(WorkIsHanded, "%s: inquiry %d hands what agent %s does", m.id, f.Inquiry, t.agent)
		case !slices.Equal(f.People, does.People) || f.Expire != does.Expire || f.Remind != does.Remind || len(to) == 0 || !slices.Equal(f.To, to):
			o.world.violate(WorkIsHanded, "%s: inquiry %d goes to %v of %v instead of %v of %v", m.id, f.Inquiry, f.To, f.People, to, does.People)
		}
		return
	}
	asked := schemas.As[*schemas.TaskDispatched](m.fact) != nil || schemas.As[*schemas.TaskReady](m.fact) != nil
	if asked && t.planned != nil && schemas.TaskOf(m.fact) == t.id && m.run.person(m.agent()) != nil {
		o.world.violate(WorkIsHanded, "%s: %s for agent %s, who is a person", m.id, m.fact.Name(), m.agent())
	}
}

// agent is who a task waits for or goes to, by a fact that says so.
func (m *moment) agent() string {
	switch f := m.fact.(type) {
	case *schemas.TaskDispatched:
		return f.Agent
	case *schemas.TaskReady:
		return f.Agent
	default:
		return ""
	}
}

// dismissed: who is not among those who are asked now is told nothing once more.
func (o *oracle) dismissed(m *moment, i *inquiry) {
	if to := o.reached(m, i.fact.People); i.work() && m.cause.Deadline != nil && m.cause.Deadline.Kind == schemas.DeadlineRemind && !slices.Equal(i.fact.To, to) {
		o.world.violate(WorkIsHanded, "%s: inquiry %d is told once more to %v, and those who work there are %v", m.id, i.number, i.fact.To, to)
	}
}

// author returns which of those who are asked to do work has written a mail, as the profile in force says; empty is none.
func (o *oracle) author(m *moment, i *inquiry, heard *hearing) string {
	if heard.mail == nil || len(heard.mail.From) == 0 {
		return ""
	}
	for _, name := range i.fact.People {
		person, works := o.profile(m.cause.Profile).People[name]
		if works && strings.EqualFold(person.Mail, heard.mail.From[0].Address) {
			return name
		}
	}
	return ""
}

func (o *oracle) wordsOfTheStaff(m *moment) {
	f := schemas.As[*schemas.InquiryAnswered](m.fact)
	if f == nil {
		return
	}
	i := m.run.inquiry(f.Inquiry)
	if i == nil || !i.work() {
		return
	}
	heard := o.heard(m.shard, f.Sequence)
	if control := heard.control; control != nil {
		choice := map[schemas.ControlAction]schemas.InquiryChoice{schemas.ControlAnswer: schemas.ChoiceAnswer, schemas.ControlReject: schemas.ChoiceReject}[control.Action]
		about := control.Run == m.run.id() && (control.Inquiry == f.Inquiry || control.Inquiry == 0 && m.run.openInquiry() == nil && f.Inquiry == len(m.run.inquiries))
		if !about || choice != f.Choice || f.Actor.Via != schemas.ViaAPI || f.Sequence != m.cause.Sequence {
			o.world.violate(WordsOfTheStaff, "%s: inquiry %d has the word %s by %+v", m.id, f.Inquiry, f.Choice, control)
		}
		return
	}
	by, named := o.author(m, i, &heard), heard.names(m.run.id())
	if by == "" || f.Actor.ID != by || f.Actor.Via != schemas.ViaMail || named != f.Inquiry || f.Choice != schemas.ChoiceAnswer || f.Sequence != m.cause.Sequence {
		o.world.violate(WordsOfTheStaff, "%s: inquiry %d has the word %s by %q of %v, which names %d", m.id, f.Inquiry, f.Choice, f.Actor.ID, i.fact.People, named)
	}
}

// workIsWhatTheyDo: the task of a person is completed in the moment of their word, and by that.
func (o *oracle) workIsWhatTheyDo(m *moment) {
	f := schemas.As[*schemas.TaskCompleted](m.fact)
	if f == nil || m.task.planned == nil || m.run.person(m.task.agent) == nil {
		return
	}
	var said *inquiry
	for _, i := range m.run.inquiries {
		if i.task == m.task {
			said = i
		}
	}
	if said == nil || !said.work() || said.answered == nil || said.answered.Choice != schemas.ChoiceAnswer || said.cause != m.cause || f.Sequence != said.answered.Sequence {
		o.world.violate(WorkIsWhatTheyDo, "%s: it is done by %d, and nobody has done it", m.id, f.Sequence)
		return
	}
	heard := o.heard(m.shard, f.Sequence)
	if words := heard.said(); f.Result.Text != words && (f.Result.Text != "" || f.Result.Sequence != f.Sequence || f.Result.Size != len(words)) {
		o.world.violate(WorkIsWhatTheyDo, "%s: it is %+v, and the word was %q", m.id, f.Result, words)
	}
}

// workEndsByWords: what came of each word is what it says, and there are no two results.
func (o *oracle) workEndsByWords(session *sessionHistory) {
	for _, r := range session.runs {
		for _, i := range r.inquiries {
			if !i.work() || i.answered == nil || i.task == nil {
				continue
			}
			does := i.task.state == taskCompleted && i.task.result.Sequence == i.answered.Sequence
			if does != (i.answered.Choice == schemas.ChoiceAnswer) {
				o.world.violate(WorkIsWhatTheyDo, "%s/%s: inquiry %d has the word %s, which is its result: %t", r.id(), i.task.id, i.number, i.answered.Choice, does)
			}
		}
	}
}

// nobodyWorks reports whether a task fails because none of the people who do such tasks works there any more.
func (o *oracle) nobodyWorks(m *moment) bool {
	if m.task == nil || m.task.state == taskUnderWay {
		return false
	}
	does := m.run.person(m.task.agent)
	return does != nil && len(o.reached(m, does.People)) == 0
}

// withdrawn reports whether work is taken back when it is to be told once more, because others do it by now.
func (o *oracle) withdrawn(m *moment, i *inquiry) bool {
	rung := m.cause.Deadline
	return i.work() && i.fact.Remind > 0 && rung != nil && rung.Kind == schemas.DeadlineRemind && !i.asked.IsZero() &&
		!m.cause.Time.Before(i.asked.Add(time.Duration(i.fact.Remind))) && !slices.Equal(i.fact.To, o.reached(m, i.fact.People))
}
