package plan

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
	"podium/supervisor/approval"
)

// approvalRule returns the rule by which people agree before an agent is asked to do a task; nil when nobody has to, or may. What has to wait for somebody because
// it stems from what comes from outside is for the rules that speak of that, and its requester agrees to none of it.
func approvalRule(v *View, task *workflow.Task) *schemas.ApprovalRule {
	if v.Profile.rules.None() || task.Plan == nil {
		return nil
	}
	outside, named := mustBeApprovedBeforeDispatch(v, task), namesItsCall(v, task)
	if outside && onTainted(v, task) != schemas.OnTaintedAsk {
		return nil
	}
	strange := v.Run.Message.FromOutside() && !named && !heldByTemplate(v, task)
	rule := v.Profile.rules.For(task, outside, strange)
	if rule == nil && outside && agreedAsChanged(v, task) {
		return v.Profile.rules.For(task, false, strange)
	}
	return rule
}

// heldByTemplate reports whether nothing that an agent would be told of a task comes from outside: its arguments stand in a template of the profile, and it
// sees nothing else of the request.
func heldByTemplate(v *View, task *workflow.Task) bool {
	use := v.Profile.agentUse(task.Agent)
	words := use == nil || use.Action != schemas.ActionArguments
	return v.Profile.holds(task.Agent, approval.Call(argumentsOf(v, task))) && !words
}

// agreedAsChanged reports whether people of the profile have agreed to what a task is to do now. Where the profile has held it before, one of those who were asked has changed it,
// which is no word from outside.
func agreedAsChanged(v *View, task *workflow.Task) bool {
	if task.Filled == nil || !task.Filled.Edited {
		return false
	}
	hash := approvalHash(v, task, nil)
	return slices.ContainsFunc(v.Run.Inquiries, func(inquiry *workflow.Inquiry) bool {
		agreed := inquiry.Task == task.ID && inquiry.Kind.IsApproval() && inquiry.Answered != nil && inquiry.Answered.Choice == schemas.ChoiceApprove
		return agreed && len(inquiry.People) > 0 && inquiry.AgreedHash() == hash
	})
}

// operationRule is approvalRule for what an agent has proposed.
func operationRule(v *View, task *workflow.Task) *schemas.ApprovalRule {
	outside := needsApproval(v, task)
	if v.Profile.rules.None() || task.Plan == nil || outside && onTainted(v, task) != schemas.OnTaintedAsk {
		return nil
	}
	return v.Profile.rules.For(task, outside, v.Run.Message.FromOutside())
}

func namesItsCall(v *View, task *workflow.Task) bool {
	use := v.Profile.agentUse(task.Agent)
	return use != nil && use.Action == schemas.ActionNamed
}

// sameArguments reports whether an agent would be told the same by two who have written its arguments.
func sameArguments(v *View, agent string, one, other jsontext.Value) bool {
	return bytes.Equal(v.Profile.rules.Arguments(agent, one, nil), v.Profile.rules.Arguments(agent, other, nil))
}

// approvalOf returns the number of the inquiry that approved the task as it would be sent to its agent now; 0 is none.
func approvalOf(v *View, task *workflow.Task) int {
	if v.Profile.rules.None() {
		return 0
	}
	if task.ID == schemas.DeliveryTask {
		return agreedAnswer(v)
	}
	if task.Plan == nil {
		return 0
	}
	return approval.Given(v.Run, task, func(proposed *schemas.Operation) string { return approvalHash(v, task, proposed) })
}

// approvalHash is what an approval is of.
func approvalHash(v *View, task *workflow.Task, proposed *schemas.Operation) string {
	of := approval.Subject{Agent: task.Agent, Told: agentToldHash(v, task), Operation: proposed}
	for _, inquiry := range v.Run.Inquiries {
		if inquiry.Task == task.ID && inquiry.Kind.IsInput() && inquiry.Answered != nil {
			of.Answers = append(of.Answers, v.content(inquiry.Answered.Text).Text)
		}
	}
	return of.Hash(schemas.RunID(v.Session, v.Run.Number) + "/" + task.ID)
}

// unapprovedRule returns the rule by which people have to approve a task before it goes to its agent, and have not; nil is none.
func unapprovedRule(v *View, task *workflow.Task) *schemas.ApprovalRule {
	if fault.Is("nobody has to agree") || approvalOf(v, task) > 0 {
		return nil
	}
	return approvalRule(v, task)
}

// askForApproval asks people to approve a task by a rule.
func askForApproval(v *View, task *workflow.Task, rule *schemas.ApprovalRule) events {
	opened := approvalBy(rule, schemas.HumanTaskApproval)
	opened.Hash = approvalHash(v, task, nil)
	if use := v.Profile.agentUse(task.Agent); use.Action == schemas.ActionArguments {
		opened.Call = approval.Call(v.Profile.rules.Arguments(task.Agent, task.Arguments(), opened.Sets))
	}
	return askToApprove(v, task, withRequester(v, rule, &opened)...)
}

// disagrees reports whether an agent may not do what it names because somebody has to agree, and has not, or has agreed to something else. Who has agreed
// to an operation has agreed to nothing that has no name.
func disagrees(v *View, task *workflow.Task, call string) bool {
	if v.Profile.rules.None() || task.Plan == nil {
		return task.ID == schemas.DeliveryTask && task.Approval == 0 && !v.Run.Reopened && answerRule(v) != nil
	}
	agreed := v.Run.Inquiry(int(task.Approval))
	switch {
	case agreed != nil && agreed.Operation != nil:
		return call != agreed.AgreedCall()
	case agreed == nil && approvalRule(v, task) != nil, agreed != nil && agreed.AgreedCall() != "" && call != "" && call != agreed.AgreedCall():
		return true
	case !namesItsCall(v, task) || v.Profile.holds(task.Agent, call):
		return false
	}
	rule := operationRule(v, task)
	return rule != nil && rule.Tainted
}

// agreedOutside reports whether people of the profile have agreed to what an attempt does outside because of what comes from there. Of what its
// agent names itself they have only where it was proposed.
func agreedOutside(v *View, task *workflow.Task) bool {
	if task.ID == schemas.DeliveryTask && v.Run.Reopened {
		return answerRule(v) != nil // without an approval nobody could have the answer sent again
	}
	agreed := v.Run.Inquiry(int(task.Approval))
	byPeople := agreed != nil && len(agreed.People) > 0 && (agreed.Operation != nil || task.ID == schemas.DeliveryTask || mustBeApprovedBeforeDispatch(v, task))
	return byPeople || agreed != nil && agreedAsChanged(v, task)
}

// disapproved reports whether a task has failed because people have to agree and have not: then nobody else does it instead.
func disapproved(v *View, task *workflow.Task, cause schemas.FailureKind) bool {
	refused := cause == schemas.FailureRejected || cause == schemas.FailureUnapproved
	return refused && !v.Profile.rules.None() && !worksAsPerson(v, task) && (approvalRule(v, task) != nil || v.Run.Proposals(task.ID) > 0)
}

// approvalBy returns the human task of a kind by which a rule has people approve.
func approvalBy(rule *schemas.ApprovalRule, kind schemas.HumanTaskKind) schemas.InquiryOpened {
	opened := schemas.InquiryOpened{Kind: kind, Remind: rule.Remind, Expire: rule.Expire, Sets: approval.Fields(rule)}
	opened.People = approval.Named(rule)
	if rule.Need > 1 {
		opened.Need = rule.Need
	}
	return opened
}

// askToApprove has a task wait until enough persons have agreed to it, or fail when that cannot be.
func askToApprove(v *View, task *workflow.Task, asked ...schemas.InquiryOpened) events {
	reached, cause, why := toApprove(v, task, asked)
	if cause != "" {
		return failUnapproved(v, task, cause, why)
	}
	if !v.Run.LeavesAll() {
		return openAll(v, task, reached)
	}
	var done events
	for i := range reached {
		opened := &reached[i]
		if len(opened.People) > 0 && opened.Operation == nil {
			opened.Told = opened.Hash
			asked := openOrAdopt(v, task, opened)
			done, v = append(done, asked...), v.after(asked)
			continue
		}
		asked := open(v, task, opened)
		done, v = append(done, asked...), v.after(asked)
	}
	return done
}

// failUnapproved fails a task that no approver can be asked about.
func failUnapproved(v *View, task *workflow.Task, cause schemas.FailureKind, why schemas.Reason) events {
	var done events
	if task.ID == schemas.DeliveryTask && v.Run.Delivery == nil {
		done = ready(v, task)
		v = v.after(done)
		task = v.Run.Delivery
	}
	done = append(done, withdraw(v, task, nil)...)
	return append(done, fail(v, task, cause, why)...)
}

// disapproval tells that somebody has said no, with what they say to it: below that word, or as the reason that the command line names. A word that decides is no reason for itself there, either.
func disapproval(v *View, word *Word) schemas.Reason {
	reason := word.Whole
	_, decides := v.Profile.Decides(word.Whole)
	atService := word.Actor.Via == schemas.ViaAPI || word.Actor.Via == schemas.ViaCLI
	if (!atService || decides) && !fault.Is("the word that decides is told as its reason") {
		_, reason, _ = strings.Cut(word.Whole, "\n")
	}
	if reason = strings.TrimSpace(reason); reason == "" || fault.Is("a no is told without its reason") {
		return schemas.Because(schemas.ApprovalRejected)
	}
	return schemas.Because(schemas.ApprovalRejectedBecause, "words", reason)
}

// withdraw closes all human tasks about a task but one, because the task is decided.
func withdraw(v *View, task *workflow.Task, but *workflow.Inquiry) events {
	var done events
	for _, other := range v.Run.Inquiries {
		if other.Open() && other.Task == task.ID && other != but {
			done = append(done, closeInquiry(v, other, schemas.InquiryWithdrawn)...)
		}
	}
	return done
}

// applyEdit gives a task, or the operation that its agent has proposed, the arguments as an approver has edited them. It sets the hash of what is approved.
func applyEdit(v *View, inquiry *workflow.Inquiry, answered *schemas.InquiryAnswered) events {
	task := v.Run.Task(inquiry.Task)
	if inquiry.Operation != nil {
		edited := *inquiry.Operation
		edited.Arguments = answered.Arguments
		answered.Call, _ = v.Profile.rules.Proposed(task.Agent, &edited, inquiry.Sets).Call()
		answered.Hash = approvalHash(v, task, &edited)
		return nil
	}
	done := events{edited(v, task, answered.Arguments)}
	v = v.after(done)
	task = v.Run.Task(task.ID)
	answered.Hash = approvalHash(v, task, nil)
	if inquiry.Call != "" {
		answered.Call = approval.Call(v.Profile.rules.Arguments(task.Agent, task.Arguments(), inquiry.Sets))
	}
	return done
}

func edited(v *View, task *workflow.Task, arguments jsontext.Value) *schemas.ArgumentsFilled {
	return &schemas.ArgumentsFilled{Run: v.Run.Number, Task: task.ID, Agent: task.Agent, Values: arguments, Answers: len(answersTo(v, task)), Edited: true}
}

// Edit returns the arguments that whoever agrees makes of those that an inquiry asks about; empty when nothing changes. It reports false for a change that cannot be
// made: of what its agent does not take, of what somebody has said no to, and of what there are no arguments of.
func (v *View) Edit(inquiry *workflow.Inquiry, change jsontext.Value) (jsontext.Value, bool) {
	task := v.Run.Task(inquiry.Task)
	if !inquiry.Kind.IsApproval() || task == nil || task.Plan == nil {
		return nil, false
	}
	given := task.Arguments()
	if inquiry.Operation != nil {
		given = inquiry.Operation.Arguments
	}
	made, err := approval.Edit(given, change)
	if err != nil || inquiry.Operation == nil && len(given) == 0 && v.Profile.inputs[task.Agent] == nil {
		return nil, false
	}
	trial, proposed := *task, inquiry.Operation
	if proposed != nil {
		edited := *proposed
		edited.Arguments = made
		proposed = v.Profile.rules.Proposed(task.Agent, &edited, nil)
		made = proposed.Arguments
		if _, err = proposed.Call(); err != nil {
			return nil, false
		}
	} else {
		made = v.Profile.rules.Arguments(task.Agent, made, nil)
		trial.Filled = edited(v, task, made)
		stranger := inquiry.OfRequester() && mustBeApprovedBeforeDispatch(v, &trial) && approvalRule(v, &trial) == nil
		if stranger || len(argumentFault(v, &trial)) > 0 {
			return nil, false // what whoever has written would have done is for others to agree to
		}
	}
	switch hash := approvalHash(v, &trial, proposed); {
	case bytes.Equal(canonical(made), canonical(unset(v, task, inquiry.Operation))):
		return nil, true
	case approval.Refused(v.Run, hash) || len(made) > schemas.RecordInlineLimit:
		return nil, false
	}
	return made, true
}

// unset are the arguments that an inquiry asks about, as nobody has agreed to them.
func unset(v *View, task *workflow.Task, proposed *schemas.Operation) jsontext.Value {
	if proposed != nil {
		return v.Profile.rules.Proposed(task.Agent, proposed, nil).Arguments
	}
	return argumentsOf(v, task)
}

func canonical(value jsontext.Value) jsontext.Value {
	value = slices.Clone(value)
	if len(value) == 0 {
		value = jsontext.Value("{}")
	}
	if value.Canonicalize() != nil {
		return nil
	}
	return value
}

// WrittenEdit returns the change that stands in the words of somebody who agrees, empty when there is none. It reports false for what was meant as one and is none.
func (v *View) WrittenEdit(inquiry *workflow.Inquiry, words string) (change jsontext.Value, sound bool) {
	members := map[string]jsontext.Value{}
	if task := v.Run.Task(inquiry.Task); task.Plan == nil || schemas.Unmarshal(canonical(unset(v, task, inquiry.Operation)), &members) != nil {
		members = nil
	}
	change, err := approval.Written(words, slices.Sorted(maps.Keys(members)))
	return change, err == nil
}

// lackingPersons is how many more than one of them, who goes by some names, have to agree to what an inquiry asks.
func lackingPersons(v *View, inquiry *workflow.Inquiry, hash string, names []string) int {
	agreed := agreedPersons(v, inquiry, hash)
	if fault.Is("same person twice") && agreed.Has(names...) {
		agreed.Count++
	}
	agreed.Add(names...)
	return max(max(inquiry.Need, 1)-agreed.Count, 0)
}

// agreedPersons are those who have agreed to a hash for the task of an inquiry, and still may.
func agreedPersons(v *View, inquiry *workflow.Inquiry, hash string) approval.Persons {
	return approval.Agreed(v.Run, v.Run.Task(inquiry.Task), hash, func(person string) bool { return decides(v, person) })
}

// decides reports whether a person may agree to anything: names are those of the profile in force.
func decides(v *View, person string) bool {
	_, known := v.People[person]
	return known || approval.IsOperator(person) || person == approval.Requester
}

// propose asks people to approve the operation that an agent has proposed. The attempt ends, and is not counted. If no approver can be asked, the failure says so.
func propose(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	proposed := failed.Operation != nil && (failed.Cause == schemas.FailureBlocked || failed.Cause == schemas.FailureUnapproved)
	if !proposed || failed.EffectUnknown || task.Kind != schemas.TaskKindWork || v.Run.Proposals(task.ID) >= maxProposals {
		return nil
	}
	rule := operationRule(v, task)
	if rule == nil {
		return nil
	}
	opened := approvalBy(rule, schemas.HumanTaskApproval)
	call, err := v.Profile.rules.Proposed(task.Agent, failed.Operation, opened.Sets).Call()
	if err != nil {
		return nil
	}
	opened.Operation = v.Profile.rules.Proposed(task.Agent, failed.Operation, nil)
	opened.Attempt, opened.Tokens, opened.Findings = task.Attempt, failed.Tokens, failed.Findings
	opened.Call, opened.Hash = call, approvalHash(v, task, opened.Operation)
	asked, cause, why := toApprove(v, task, withRequester(v, rule, &opened))
	if cause != "" {
		failed.Cause, failed.Category, failed.Detail, failed.Reasons = cause, category(cause), "", []schemas.Reason{why}
		return nil
	}
	asked[0].Usage = failed.Usage
	return openAll(v, task, asked)
}

// maxProposals bounds what a task proposes.
const maxProposals = 5

// toApprove are the inquiries of those who can be asked for the same, with all that they are told; or it says why nobody is asked: somebody has said no to it,
// or there are too few, or it does not fit into a letter.
func toApprove(v *View, task *workflow.Task, asked []schemas.InquiryOpened) (reached []schemas.InquiryOpened, cause schemas.FailureKind, why schemas.Reason) {
	if approval.Refused(v.Run, asked[0].Hash) {
		return nil, schemas.FailureRejected, schemas.Because(schemas.ApprovalRejected)
	}
	question, persons := proposal(v, task, &asked[0]), askedBeside(v, task)
	for i := range asked {
		opened := asked[i]
		opened.Question = question
		found := 0
		if len(opened.People) > 0 {
			letters := reachedToApprove(v, opened.People)
			opened.To, opened.Account, found = letters.To, letters.Account, len(letters.To)
			opened.InThread = letters.InThread && (task.ID != schemas.DeliveryTask || fault.Is("an answer that waits is shown in the thread")) // whoever has written is not shown what they may not get
			if opened.InThread {
				found += inChatAlone(v, opened.People)
			}
		} else if reachesRequester(v) {
			found = 1
		}
		if persons += found; found > 0 {
			opened.Attempt, opened.Tokens, opened.Findings = asked[0].Attempt, asked[0].Tokens, asked[0].Findings
			if len(reached) > 0 {
				opened.Attempt, opened.Tokens, opened.Findings = 0, 0, nil
			}
			reached = append(reached, opened)
		}
	}
	if persons < max(asked[0].Need, 1) || len(v.Run.Inquiries)+len(reached) > schemas.MaxInquiries || len(question) > schemas.RecordInlineLimit {
		return nil, schemas.FailureUnapproved, schemas.Because(schemas.ApproversUnreachable)
	}
	return reached, "", why
}

// reachedFor is who is reached now of those whom an inquiry asks. About a failure whoever has begun the run is asked by name as well.
func reachedFor(v *View, inquiry *workflow.Inquiry) schemas.InquiryOpened {
	if inquiry.Kind.ExcludesRequester() || inquiry.Kind.IsRestricted() && fault.Is("whoever has begun the run is asked anew") {
		return reachedToApprove(v, inquiry.People)
	}
	return reached(v, inquiry.People)
}

// proposal is what people are told who are to agree: who does what, with which arguments, how long that takes, and how they decide.
func proposal(v *View, task *workflow.Task, opened *schemas.InquiryOpened) string {
	words := v.Profile.wordsIn(v.Run.Message.Language)
	if task.ID == schemas.DeliveryTask {
		return sending(v, opened, words.Texts)
	}
	tell := func(data, schema jsontext.Value) string {
		if len(data) == 0 {
			return ""
		}
		told := answer.Data(data, schema, "arguments", words)
		if told.File != nil || told.Text == "" {
			return string(data) // nobody agrees to what is left out
		}
		return told.Text
	}
	lines := []string{describedTask(v, v.content(task.Plan.Description).Text, len(opened.People) > 0), tell(v.Profile.rules.Arguments(task.Agent, task.Arguments(), opened.Sets), v.Profile.ArgumentsSchema(task.Agent))}
	if opened.Operation != nil {
		proposed := v.Profile.rules.Proposed(task.Agent, opened.Operation, opened.Sets)
		lines = []string{proposed.Summary, tell(proposed.Arguments, nil), strings.Join(proposed.Recipients, ", ")}
	}
	if task.Plan.Seconds > 0 || task.Plan.Tokens > 0 {
		lines = append(lines, v.sentence("estimate", "{seconds}", strconv.Itoa(task.Plan.Seconds), "{tokens}", strconv.Itoa(task.Plan.Tokens)))
	}
	if example := approval.Example(unset(v, task, opened.Operation), opened.Sets); example != "" {
		lines = append(lines, strings.ReplaceAll(words.Texts.Editing, "{change}", example))
	}
	if opened.Need > 1 {
		lines = append(lines, strings.ReplaceAll(words.Texts.Together, "{need}", strconv.Itoa(opened.Need)))
	}
	approve, reject := v.Profile.decidingWords(v.Run.Message.Language)
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	work := shown(strings.Join(lines, "\n"))
	if len(opened.People) > 0 {
		work = strings.TrimSpace(askedBy(v) + "\n\n" + work)
	}
	return strings.NewReplacer("{agent}", describedAgent(v, task.Agent), "{work}", work, "{approve}", approve, "{reject}", reject).Replace(words.Texts.Approval)
}

// Explain tells people how an inquiry is decided, when one of them has said something that decides nothing, at most schemas.MaxExplanations times.
func (d *Decision) Explain(inquiry *workflow.Inquiry) {
	if told := d.Run.Explanations(inquiry.Inquiry); told < schemas.MaxExplanations {
		d.apply(notify(&d.View, workflow.NewExplanation(inquiry.Inquiry, told+1)))
	}
}
