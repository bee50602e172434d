package plan

import (
	"bytes"
	"cmp"
	"fmt"
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
func approvalRule(d *Decision, task *workflow.Task) *schemas.ApprovalRule {
	if d.Profile.rules.None() || task.Plan == nil {
		return nil
	}
	outside, named := unapprovedUnasked(d, task), namesItsCall(d, task)
	if outside && onTainted(d, task) != schemas.OnTaintedAsk {
		return nil
	}
	strange := d.Run.Message.FromOutside() && !named && !heldByTemplate(d, task)
	rule := d.Profile.rules.For(task, outside, strange)
	if rule == nil && outside && agreedAsChanged(d, task) {
		return d.Profile.rules.For(task, false, strange)
	}
	return rule
}

// heldByTemplate reports whether nothing that an agent would be told of a task comes from outside: its arguments stand in a template of the profile, and it
// sees nothing else of the request.
func heldByTemplate(d *Decision, task *workflow.Task) bool {
	use := d.Profile.agentUse(task.Agent)
	words := use == nil || use.Action != schemas.ActionArguments
	return d.Profile.holds(task.Agent, approval.Call(argumentsOf(d, task))) && !words
}

// agreedAsChanged reports whether people of the profile have agreed to what a task is to do now. Where the profile has held it before, one of those who were asked has changed it,
// which is no word from outside.
func agreedAsChanged(d *Decision, task *workflow.Task) bool {
	if task.Filled == nil || !task.Filled.Edited {
		return false
	}
	hash := approvalHash(d, task, nil)
	return slices.ContainsFunc(d.Run.Inquiries, func(inquiry *workflow.Inquiry) bool {
		agreed := inquiry.Task == task.ID && inquiry.Kind.IsApproval() && inquiry.Answered != nil && inquiry.Answered.Choice == schemas.ChoiceApprove
		return agreed && len(inquiry.People) > 0 && inquiry.AgreedHash() == hash
	})
}

// operationRule is approvalRule for what an agent has proposed.
func operationRule(d *Decision, task *workflow.Task) *schemas.ApprovalRule {
	outside := needsApproval(d, task)
	if d.Profile.rules.None() || task.Plan == nil || outside && onTainted(d, task) != schemas.OnTaintedAsk {
		return nil
	}
	return d.Profile.rules.For(task, outside, d.Run.Message.FromOutside())
}

func namesItsCall(d *Decision, task *workflow.Task) bool {
	use := d.Profile.agentUse(task.Agent)
	return use != nil && use.Action == schemas.ActionNamed
}

// sameArguments reports whether an agent would be told the same by two who have written its arguments.
func sameArguments(d *Decision, agent string, one, other jsontext.Value) bool {
	return bytes.Equal(d.Profile.rules.Arguments(agent, one, nil), d.Profile.rules.Arguments(agent, other, nil))
}

// approvalOf returns the number of the inquiry that approved the task as it would be sent to its agent now; 0 is none.
func approvalOf(d *Decision, task *workflow.Task) int {
	if d.Profile.rules.None() {
		return 0
	}
	if task.ID == schemas.DeliveryTask {
		return agreedAnswer(d)
	}
	if task.Plan == nil {
		return 0
	}
	return approval.Given(d.Run, task, func(proposed *schemas.Operation) string { return approvalHash(d, task, proposed) })
}

// approvalHash is what an approval is of.
func approvalHash(d *Decision, task *workflow.Task, proposed *schemas.Operation) string {
	of := approval.Subject{Agent: task.Agent, Told: agentToldHash(d, task), Operation: proposed}
	for _, inquiry := range d.Run.Inquiries {
		if inquiry.Task == task.ID && inquiry.Kind.IsInput() && inquiry.Answered != nil {
			of.Answers = append(of.Answers, d.content(inquiry.Answered.Text).Text)
		}
	}
	return of.Hash(schemas.RunID(d.Session, d.Run.Number) + "/" + task.ID)
}

// unapprovedRule returns the rule by which people have to approve a task before it goes to its agent, and have not; nil is none.
func unapprovedRule(d *Decision, task *workflow.Task) *schemas.ApprovalRule {
	if fault.Is("nobody has to agree") || approvalOf(d, task) > 0 {
		return nil
	}
	return approvalRule(d, task)
}

// askForApproval asks people to approve a task by a rule.
func askForApproval(d *Decision, task *workflow.Task, rule *schemas.ApprovalRule) {
	opened := approvalBy(rule, schemas.HumanTaskApproval)
	opened.Hash = approvalHash(d, task, nil)
	if use := d.Profile.agentUse(task.Agent); use.Action == schemas.ActionArguments {
		opened.Call = approval.Call(d.Profile.rules.Arguments(task.Agent, task.Arguments(), opened.Sets))
	}
	askToApprove(d, task, withRequester(d, rule, &opened)...)
}

// disagrees reports whether an agent may not do what it names because somebody has to agree, and has not, or has agreed to something else. Who has agreed
// to an operation has agreed to nothing that has no name.
func disagrees(d *Decision, task *workflow.Task, call string) bool {
	if d.Profile.rules.None() || task.Plan == nil {
		return task.ID == schemas.DeliveryTask && task.Approval == 0 && !d.Run.Reopened && answerRule(d) != nil
	}
	agreed := d.Run.Inquiry(int(task.Approval))
	switch {
	case agreed != nil && agreed.Operation != nil:
		return call != agreed.AgreedCall()
	case agreed == nil && approvalRule(d, task) != nil, agreed != nil && agreed.AgreedCall() != "" && call != "" && call != agreed.AgreedCall():
		return true
	case !namesItsCall(d, task) || d.Profile.holds(task.Agent, call):
		return false
	}
	rule := operationRule(d, task)
	return rule != nil && rule.Tainted
}

// agreedOutside reports whether people of the profile have agreed to what an attempt does outside because of what comes from there. Of what its
// agent names itself they have only where it was proposed.
func agreedOutside(d *Decision, task *workflow.Task) bool {
	if task.ID == schemas.DeliveryTask && d.Run.Reopened {
		return answerRule(d) != nil // else nobody could have it sent again
	}
	agreed := d.Run.Inquiry(int(task.Approval))
	byPeople := agreed != nil && len(agreed.People) > 0 && (agreed.Operation != nil || task.ID == schemas.DeliveryTask || unapprovedUnasked(d, task))
	return byPeople || agreed != nil && agreedAsChanged(d, task)
}

// disapproved reports whether a task has failed because people have to agree and have not: then nobody else does it instead.
func disapproved(d *Decision, task *workflow.Task, cause schemas.FailureKind) bool {
	refused := cause == schemas.FailureRejected || cause == schemas.FailureUnapproved
	return refused && !d.Profile.rules.None() && !worksAsPerson(d, task) && (approvalRule(d, task) != nil || d.Run.Proposals(task.ID) > 0)
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
func askToApprove(d *Decision, task *workflow.Task, asked ...schemas.InquiryOpened) {
	reached, cause, detail := toApprove(d, task, asked)
	if cause != "" {
		if task.ID == schemas.DeliveryTask && d.Run.Delivery == nil {
			ready(d, task)
			task = d.Run.Delivery
		}
		withdraw(d, task)
		fail(d, task, cause, detail)
		return
	}
	for i := range reached {
		if opened := &reached[i]; len(opened.People) > 0 && opened.Operation == nil && d.Run.LeavesAll() {
			opened.Told = opened.Hash
			openOrAdopt(d, task, opened)
			continue
		}
		open(d, task, &reached[i])
	}
}

// disapproval tells that somebody has said no, with what they say to it: below that word, or as the reason that the command line names. A word that decides is no reason for itself there, either.
func disapproval(d *Decision, word *Word) string {
	told, reason := d.texts().Disapproved, word.Whole
	_, decides := d.Profile.Decides(word.Whole)
	atService := word.Actor.Via == schemas.ViaAPI || word.Actor.Via == schemas.ViaCLI
	if (!atService || decides) && !fault.Is("the word that decides is told as its reason") {
		_, reason, _ = strings.Cut(word.Whole, "\n")
	}
	if reason = strings.TrimSpace(reason); reason == "" || fault.Is("a no is told without its reason") {
		return told
	}
	return told + " " + quoted(d, truncate(reason, maxFeedback))
}

// quoted is what somebody has said, in the quotation marks of the language of the run; a profile from before they were known has English ones.
func quoted(d *Decision, text string) string {
	return strings.ReplaceAll(cmp.Or(d.texts().Quoted, "“{text}”"), "{text}", text)
}

// withdraw closes what others are asked about a task, since it is decided.
func withdraw(d *Decision, task *workflow.Task) {
	for _, other := range d.Run.Inquiries {
		if other.Open() && other.Task == task.ID {
			closeInquiry(d, other, schemas.InquiryWithdrawn)
		}
	}
}

// edits has a task, or what its agent has proposed, as whoever agrees has changed it. It returns the hash of what they agree to.
func edits(d *Decision, inquiry *workflow.Inquiry, answered *schemas.InquiryAnswered) string {
	task := d.Run.Task(inquiry.Task)
	if inquiry.Operation != nil {
		edited := *inquiry.Operation
		edited.Arguments = answered.Arguments
		answered.Call, _ = d.Profile.rules.Proposed(task.Agent, &edited, inquiry.Sets).Call()
		answered.Hash = approvalHash(d, task, &edited)
		return answered.Hash
	}
	d.emit(edited(d, task, answered.Arguments))
	task = d.Run.Task(task.ID)
	answered.Hash = approvalHash(d, task, nil)
	if inquiry.Call != "" {
		answered.Call = approval.Call(d.Profile.rules.Arguments(task.Agent, task.Arguments(), inquiry.Sets))
	}
	return answered.Hash
}

func edited(d *Decision, task *workflow.Task, arguments jsontext.Value) *schemas.ArgumentsFilled {
	return &schemas.ArgumentsFilled{Run: d.Run.Number, Task: task.ID, Agent: task.Agent, Values: arguments, Answers: len(answersTo(d, task)), Edited: true}
}

// Edit returns the arguments that whoever agrees makes of those that an inquiry asks about; empty when nothing changes. It reports false for a change that cannot be
// made: of what its agent does not take, of what somebody has said no to, and of what there are no arguments of.
func (d *Decision) Edit(inquiry *workflow.Inquiry, change jsontext.Value) (jsontext.Value, bool) {
	task := d.Run.Task(inquiry.Task)
	if !inquiry.Kind.IsApproval() || task == nil || task.Plan == nil {
		return nil, false
	}
	given := task.Arguments()
	if inquiry.Operation != nil {
		given = inquiry.Operation.Arguments
	}
	made, err := approval.Edit(given, change)
	if err != nil || inquiry.Operation == nil && len(given) == 0 && d.Profile.inputs[task.Agent] == nil {
		return nil, false
	}
	trial, proposed := *task, inquiry.Operation
	if proposed != nil {
		edited := *proposed
		edited.Arguments = made
		proposed = d.Profile.rules.Proposed(task.Agent, &edited, nil)
		made = proposed.Arguments
		if _, err = proposed.Call(); err != nil {
			return nil, false
		}
	} else {
		made = d.Profile.rules.Arguments(task.Agent, made, nil)
		trial.Filled = edited(d, task, made)
		stranger := inquiry.OfRequester() && unapprovedUnasked(d, &trial) && approvalRule(d, &trial) == nil
		if stranger || argumentFault(d, &trial) != "" {
			return nil, false // what whoever has written would have done is for others to agree to
		}
	}
	switch hash := approvalHash(d, &trial, proposed); {
	case bytes.Equal(canonical(made), canonical(unset(d, task, inquiry.Operation))):
		return nil, true
	case approval.Refused(d.Run, hash) || len(made) > schemas.RecordInlineLimit:
		return nil, false
	}
	return made, true
}

// unset are the arguments that an inquiry asks about, as nobody has agreed to them.
func unset(d *Decision, task *workflow.Task, proposed *schemas.Operation) jsontext.Value {
	if proposed != nil {
		return d.Profile.rules.Proposed(task.Agent, proposed, nil).Arguments
	}
	return argumentsOf(d, task)
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
func (d *Decision) WrittenEdit(inquiry *workflow.Inquiry, words string) (change jsontext.Value, sound bool) {
	members := map[string]jsontext.Value{}
	if task := d.Run.Task(inquiry.Task); task.Plan == nil || schemas.Unmarshal(canonical(unset(d, task, inquiry.Operation)), &members) != nil {
		members = nil
	}
	change, err := approval.Written(words, slices.Sorted(maps.Keys(members)))
	return change, err == nil
}

// lackingPersons is how many more than one of them, who goes by some names, have to agree to what an inquiry asks.
func lackingPersons(d *Decision, inquiry *workflow.Inquiry, hash string, names []string) int {
	agreed := agreedPersons(d, inquiry, hash)
	if fault.Is("same person twice") && agreed.Has(names...) {
		agreed.Count++
	}
	agreed.Add(names...)
	return max(max(inquiry.Need, 1)-agreed.Count, 0)
}

// agreedPersons are those who have agreed to a hash for the task of an inquiry, and still may.
func agreedPersons(d *Decision, inquiry *workflow.Inquiry, hash string) approval.Persons {
	return approval.Agreed(d.Run, d.Run.Task(inquiry.Task), hash, func(person string) bool { return decides(d, person) })
}

// decides reports whether a person may agree to anything: names are those of the profile in force.
func decides(d *Decision, person string) bool {
	_, known := d.People[person]
	return known || approval.IsOperator(person) || person == approval.Requester
}

// proposalOf returns the human tasks by which people approve what an agent would do; none when nobody is asked. The attempt is over then, and not spent. Where
// people would have to approve and cannot be asked, the failure says so.
func proposalOf(d *Decision, task *workflow.Task, failed *schemas.TaskFailed) []schemas.InquiryOpened {
	if failed.Operation == nil || failed.EffectUnknown || task.Kind != schemas.TaskKindWork || d.Run.Proposals(task.ID) >= maxProposals {
		return nil
	}
	rule := operationRule(d, task)
	if rule == nil {
		return nil
	}
	opened := approvalBy(rule, schemas.HumanTaskApproval)
	call, err := d.Profile.rules.Proposed(task.Agent, failed.Operation, opened.Sets).Call()
	if err != nil {
		return nil
	}
	proposed := d.Profile.rules.Proposed(task.Agent, failed.Operation, nil)
	opened.Attempt, opened.Tokens, opened.Findings = task.Attempt, failed.Tokens, failed.Findings
	opened.Operation, opened.Call, opened.Hash = proposed, call, approvalHash(d, task, proposed)
	asked, cause, detail := toApprove(d, task, withRequester(d, rule, &opened))
	if cause != "" {
		failed.Cause, failed.Category, failed.Detail = cause, "", detail
		return nil
	}
	return asked
}

func openAll(d *Decision, task *workflow.Task, opened []schemas.InquiryOpened) {
	for i := range opened {
		open(d, task, &opened[i])
	}
}

// maxProposals bounds what a task proposes.
const maxProposals = 5

// toApprove are the inquiries of those who can be asked for the same, with all that they are told; or it says why nobody is asked: somebody has said no to it,
// or there are too few, or it does not fit into a letter.
func toApprove(d *Decision, task *workflow.Task, asked []schemas.InquiryOpened) (reached []schemas.InquiryOpened, cause schemas.FailureKind, detail string) {
	if approval.Refused(d.Run, asked[0].Hash) {
		return nil, schemas.FailureRejected, d.texts().Disapproved
	}
	question, persons := proposal(d, task, &asked[0]), askedBeside(d, task)
	for i := range asked {
		opened := asked[i]
		opened.Question = question
		found := 0
		if len(opened.People) > 0 {
			letters := reachedToApprove(d, opened.People)
			opened.To, opened.Account, found = letters.To, letters.Account, len(letters.To)
			opened.InThread = letters.InThread && (task.ID != schemas.DeliveryTask || fault.Is("an answer that waits is shown in the thread")) // whoever has written is not shown what they may not get
			if opened.InThread {
				found += inChatAlone(d, opened.People)
			}
		} else if reachesRequester(d) {
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
	if persons < max(asked[0].Need, 1) || len(d.Run.Inquiries)+len(reached) > schemas.MaxInquiries || len(question) > schemas.RecordInlineLimit {
		return nil, schemas.FailureUnapproved, d.texts().Unasked
	}
	return reached, "", ""
}

// reachedFor is who is reached now of those whom an inquiry asks. About a failure whoever has begun the run is asked by name as well.
func reachedFor(d *Decision, inquiry *workflow.Inquiry) schemas.InquiryOpened {
	if inquiry.Kind.ExcludesRequester() || inquiry.Kind.IsRestricted() && fault.Is("whoever has begun the run is asked anew") {
		return reachedToApprove(d, inquiry.People)
	}
	return reached(d, inquiry.People)
}

// proposal is what people are told who are to agree: who does what, with which arguments, how long that takes, and how they decide.
func proposal(d *Decision, task *workflow.Task, opened *schemas.InquiryOpened) string {
	words := d.Profile.wordsIn(d.Run.Message.Language)
	if task.ID == schemas.DeliveryTask {
		return sending(d, opened, words.Texts)
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
	lines := []string{describedTask(d, d.content(task.Plan.Description).Text, len(opened.People) > 0), tell(d.Profile.rules.Arguments(task.Agent, task.Arguments(), opened.Sets), d.Profile.ArgumentsSchema(task.Agent))}
	if opened.Operation != nil {
		proposed := d.Profile.rules.Proposed(task.Agent, opened.Operation, opened.Sets)
		lines = []string{proposed.Summary, tell(proposed.Arguments, nil), strings.Join(proposed.Recipients, ", ")}
	}
	if task.Plan.Seconds > 0 || task.Plan.Tokens > 0 {
		lines = append(lines, fmt.Sprintf("(~ %d s, %d tokens)", task.Plan.Seconds, task.Plan.Tokens))
	}
	if example := approval.Example(unset(d, task, opened.Operation), opened.Sets); example != "" {
		lines = append(lines, strings.ReplaceAll(words.Texts.Editing, "{change}", example))
	}
	if opened.Need > 1 {
		lines = append(lines, strings.ReplaceAll(words.Texts.Together, "{need}", strconv.Itoa(opened.Need)))
	}
	approve, reject := d.Profile.decidingWords(d.Run.Message.Language)
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	work := shown(strings.Join(lines, "\n"))
	if len(opened.People) > 0 {
		work = strings.TrimSpace(askedBy(d) + "\n\n" + work)
	}
	return strings.NewReplacer("{agent}", describedAgent(d, task.Agent), "{work}", work, "{approve}", approve, "{reject}", reject).Replace(words.Texts.Approval)
}

// Explain tells people how an inquiry is decided, when one of them has said something that decides nothing, at most schemas.MaxExplanations times.
func (d *Decision) Explain(inquiry *workflow.Inquiry) {
	if told := d.Run.Explanations(inquiry.Inquiry); told < schemas.MaxExplanations {
		notify(d, workflow.NewExplanation(inquiry.Inquiry, told+1))
	}
}
