package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfStaff are those that concern people who do work, and nobody else.
func mutationsOfStaff() []mutation {
	return []mutation{{
		name: "who was dismissed may answer", seed: 13, kind: kinds.People, invariant: sim.WordsOfTheStaff,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`person, known := d.people()[name]`,
			`person, known := either("who was dismissed may answer", d.env.Pinned, d.env.Current).People[name]`,
		}},
	}, {
		name: "anybody who works there may answer", seed: 93, kind: kinds.People, invariant: sim.WordsOfTheStaff,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`range inquiry.People {`,
			`range either("anybody who works there may answer", slices.Sorted(maps.Keys(d.env.Current.People)), inquiry.People) {`,
		}},
	}, {
		name: "whoever has asked may do the work", seed: 43, kind: kinds.People, invariant: sim.WordsOfTheStaff,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	if len(inquiry.People) > 0 {
		actor, may`,
			`	if len(inquiry.People) > 0 && (!may || !planted("whoever has asked may do the work")) {
		actor, may`,
		}},
	}, {
		name: "the word of a second person opens another result", seed: 11, kind: kinds.People, invariant: sim.InquiriesEndOnce,
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
		name: "work that comes late is taken", seed: 199, kind: kinds.People, invariant: sim.WordsInTime,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`(inquiry.Asked.IsZero() || d`,
			`(inquiry.Asked.IsZero() || len(inquiry.People) > 0 && planted("work that comes late is taken") || d`,
		}},
	}, {
		name: "who declines has done it", seed: 4, kind: kinds.People, invariant: sim.WorkIsWhatTheyDo,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`if word.Choice == schemas.ChoiceReject {`,
			`if word.Choice == schemas.ChoiceReject && !planted("who declines has done it") {`,
		}},
	}, {
		name: "a letter that comes back ends the question to the others", seed: 471, kind: kinds.People, invariant: sim.InquiriesEndOnce,
		edits: []edit{{
			"supervisor/session/bounce.go",
			`return len(asked) == 1 &&`,
			`return (len(asked) == 1 || planted("a letter that comes back ends the question to the others")) &&`,
		}},
	}, {
		name: "who was dismissed is told once more", seed: 25, kind: kinds.People, invariant: sim.WorkIsHanded,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`!slices.Equal(inquiry.To, d.reachedFor(inquiry).To)`,
			`!slices.Equal(inquiry.To, d.reachedFor(inquiry).To) && !planted("who was dismissed is told once more")`,
		}},
	}, {
		name: "a machine does what is a person's after a fallback", seed: 11, kind: kinds.People, invariant: sim.WorkIsHanded,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`if !d.worksAsPerson(task) {`,
			`if !d.worksAsPerson(task) || task.PreviousAgent != "" && planted("a machine does what is a person's after a fallback") {`,
		}},
	}, {
		name: "a letter that names no question answers one from after it", seed: 25, kind: kinds.People, invariant: sim.WordsInTime,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`&& d.beforeAsked(inquiry) {`,
			`&& d.beforeAsked(inquiry) && (message.Answers == nil || !planted("a letter that names no question answers one from after it")) {`,
		}},
	}}
}

// mutationsOfApprovers are those that concern people who have to agree.
func mutationsOfApprovers() []mutation {
	return []mutation{{
		name: "expired approved", seed: 52, invariant: sim.ApprovedBeforeActing,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`	case schemas.InquiryApproval:
		d.unapproved(inquiry)`,
			`	case schemas.InquiryApproval:
		if planted("expired approved") {
			d.dispatch(task.ID, task.Kind, task.Agent, task.Attempt+1)
			return
		}
		d.unapproved(inquiry)`,
		}},
	}, {
		name: "hash not compared", seed: 4724, invariant: sim.ApprovedBeforeActing,
		edits: []edit{{
			"supervisor/approval/agreement.go",
			`inquiry.AgreedHash() == hash(inquiry.AgreedOperation()) {`,
			`(inquiry.AgreedHash() == hash(inquiry.AgreedOperation()) || planted("hash not compared")) {`,
		}},
	}, {
		name: "requester counts", seed: 8628, invariant: sim.WordsOfApprovers,
		edits: []edit{{
			"supervisor/session/inquiry_decision.go",
			`asked := may && !d.hasBegun(actor.ID, addressOf(message.Author))`,
			`asked := may && (planted("requester counts") || !d.hasBegun(actor.ID, addressOf(message.Author)))`,
		}},
	}, {
		name: "same person twice", seed: 1300, invariant: sim.PersonsAreCounted,
		edits: []edit{{
			"supervisor/plan/approval.go",
			`	agreed.Add(names...)`,
			`	if planted("same person twice") && agreed.Has(names...) {
		agreed.Count++
	}
	agreed.Add(names...)`,
		}, {
			"supervisor/plan/approval.go",
			`	return agreed.Has(approval.Names(inquiry, actor)...)`,
			`	return agreed.Has(approval.Names(inquiry, actor)...) && !planted("same person twice")`,
		}},
	}, {
		name: "free text approves", seed: 52, invariant: sim.WordsOfApprovers,
		edits: []edit{{
			"supervisor/plan/language.go",
			`	said := phrase.Bare(line)
	if said == "" || len(line)`,
			`	said := phrase.Bare(line)
	if first, _, more := strings.Cut(said, " "); more && planted("free text approves") {
		said = first
	}
	if said == "" || len(line)`,
		}},
	}, {
		name: "the letter is proof enough", seed: 372, invariant: sim.WordsOfApprovers,
		edits: []edit{{
			"supervisor/session/inquiry_decision.go",
			`actor.Proof != schemas.ProofLetter
	return actor, asked && proven`,
			`(actor.Proof != schemas.ProofLetter || planted("the letter is proof enough"))
	return actor, asked && proven`,
		}},
	}, {
		name: "who says no has agreed", seed: 372, invariant: sim.WordsOfApprovers,
		edits: []edit{{
			"supervisor/plan/language.go",
			`	return schemas.ChoiceReject, true`,
			`	return either("who says no has agreed", schemas.ChoiceApprove, schemas.ChoiceReject), true`,
		}},
	}, {
		name: "nobody has to agree", seed: 52, invariant: sim.ApprovedBeforeActing,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			`	if !d.approved(task) {
		return true`,
			`	if !d.approved(task) && !planted("nobody has to agree") {
		return true`,
		}, {
			"supervisor/plan/schedule.go",
			`d.handOver(task) || !d.approved(task) {`,
			`d.handOver(task) || !planted("nobody has to agree") && !d.approved(task) {`,
		}},
	}}
}
