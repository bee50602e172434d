package sim_test

import "podium/supervisor/sim"

// mutationsOfStaff are those that concern people who do work, and nobody else.
func mutationsOfStaff() []mutation {
	return []mutation{{
		name: "who was dismissed may answer", seed: 13, people: true, invariant: sim.WordsOfTheStaff,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`person, known := d.people()[name]`,
			`person, known := either("who was dismissed may answer", d.env.Pinned, d.env.Current).People[name]`,
		}},
	}, {
		name: "anybody who works there may answer", seed: 93, people: true, invariant: sim.WordsOfTheStaff,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`range inquiry.People {`,
			`range either("anybody who works there may answer", slices.Sorted(maps.Keys(d.env.Current.People)), inquiry.People) {`,
		}},
	}, {
		name: "whoever has asked may do the work", seed: 43, people: true, invariant: sim.WordsOfTheStaff,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	if len(inquiry.People) > 0 {
		actor, may`,
			`	if len(inquiry.People) > 0 && (!may || !planted("whoever has asked may do the work")) {
		actor, may`,
		}},
	}, {
		name: "the word of a second person opens another result", seed: 11, people: true, invariant: sim.InquiriesEndOnce,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	if !vouched || !message.namesInquiry() {`,
			`	if active := d.state.Active; vouched && message.namesInquiry() && active != nil && planted("the word of a second person opens another result") {
		if decided := active.Inquiry(message.Answers.Inquiry); decided != nil && decided.Answered != nil && decided.Kind == schemas.InquiryWork {
			d.word(decided, &plan.Word{Choice: schemas.ChoiceAnswer, Actor: actor, Whole: message.Text}, received)
			return true
		}
	}
	if !vouched || !message.namesInquiry() {`,
		}},
	}, {
		name: "work that comes late is taken", seed: 199, people: true, invariant: sim.WordsInTime,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`(inquiry.Asked.IsZero() || d`,
			`(inquiry.Asked.IsZero() || len(inquiry.People) > 0 && planted("work that comes late is taken") || d`,
		}},
	}, {
		name: "who declines has done it", seed: 4, people: true, invariant: sim.WorkIsWhatTheyDo,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`if word.Choice == schemas.ChoiceReject {`,
			`if word.Choice == schemas.ChoiceReject && !planted("who declines has done it") {`,
		}},
	}, {
		name: "a letter that comes back ends the question to the others", seed: 471, people: true, invariant: sim.InquiriesEndOnce,
		edits: []edit{{
			"supervisor/session/bounce.go",
			`return len(asked) == 1 &&`,
			`return (len(asked) == 1 || planted("a letter that comes back ends the question to the others")) &&`,
		}},
	}, {
		name: "who was dismissed is told once more", seed: 25, people: true, invariant: sim.WorkIsHanded,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`!slices.Equal(inquiry.To, d.reached(inquiry.People).To)`,
			`!slices.Equal(inquiry.To, d.reached(inquiry.People).To) && !planted("who was dismissed is told once more")`,
		}},
	}, {
		name: "a machine does what is a person's after a fallback", seed: 11, people: true, invariant: sim.WorkIsHanded,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`if !d.worksAsPerson(task) {`,
			`if !d.worksAsPerson(task) || task.PreviousAgent != "" && planted("a machine does what is a person's after a fallback") {`,
		}},
	}, {
		name: "a letter that names no question answers one from after it", seed: 25, people: true, invariant: sim.WordsInTime,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`&& d.beforeAsked(inquiry) {`,
			`&& d.beforeAsked(inquiry) && (message.Answers == nil || !planted("a letter that names no question answers one from after it")) {`,
		}},
	}}
}
