package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
	"podium/supervisor/approval"
)

// approvalRule returns the rule by which people agree before an agent is asked to do a task; nil when nobody has to, or may. What has to wait for somebody because
// it stems from what comes from outside is for the rules that speak of that, and its requester agrees to none of it.
func (d *Decision) approvalRule(task *workflow.Task) *schemas.ApprovalRule {
	if d.Profile.rules.None() || task.Plan == nil {
		return nil
	}
	outside, named := d.unapprovedUnasked(task), d.namesItsCall(task)
	if outside && d.onTainted(task) != schemas.OnTaintedAsk {
		return nil
	}
	strange := d.Run.Message.FromOutside() && !named && !d.Profile.holds(task.Agent, approval.Call(d.arguments(task)))
	return d.Profile.rules.For(task, outside, strange)
}

// operationRule is approvalRule for what an agent has proposed.
func (d *Decision) operationRule(task *workflow.Task) *schemas.ApprovalRule {
	outside := d.needsApproval(task)
	if d.Profile.rules.None() || task.Plan == nil || outside && d.onTainted(task) != schemas.OnTaintedAsk {
		return nil
	}
	return d.Profile.rules.For(task, outside, d.Run.Message.FromOutside())
}

func (d *Decision) namesItsCall(task *workflow.Task) bool {
	use := d.Profile.agentUse(task.Agent)
	return use != nil && use.Action == schemas.ActionNamed
}

// sameArguments reports whether an agent would be told the same by two who have written its arguments.
func (d *Decision) sameArguments(agent string, one, other jsontext.Value) bool {
	return bytes.Equal(d.Profile.rules.Arguments(agent, one, nil), d.Profile.rules.Arguments(agent, other, nil))
}

// approval is the inquiry by which somebody has agreed to exactly what an agent would be told of a task now; 0 is none.
func (d *Decision) approval(task *workflow.Task) int {
	if d.Profile.rules.None() || task.Plan == nil {
		return 0
	}
	return approval.Given(d.Run, task, func(proposed *schemas.Operation) string { return d.approvalHash(task, proposed) })
}

// approvalHash is what an approval is of.
func (d *Decision) approvalHash(task *workflow.Task, proposed *schemas.Operation) string {
	of := approval.Subject{Agent: task.Agent, Told: d.agentToldHash(task), Operation: proposed}
	for _, inquiry := range d.Run.Inquiries {
		if inquiry.Task == task.ID && inquiry.Kind == schemas.InquiryInput && inquiry.Answered != nil {
			of.Answers = append(of.Answers, d.content(inquiry.Answered.Text).Text)
		}
	}
	return of.Hash(schemas.RunID(d.Session, d.Run.Number) + "/" + task.ID)
}

// approved reports whether a task may go to its agent as far as people have to agree. Else they are asked, or it has failed.
func (d *Decision) approved(task *workflow.Task) bool {
	if d.approval(task) > 0 {
		return true
	}
	rule := d.approvalRule(task)
	if rule == nil {
		return true
	}
	opened := d.approvalBy(rule)
	opened.Hash = d.approvalHash(task, nil)
	if use := d.Profile.agentUse(task.Agent); use.Action == schemas.ActionArguments {
		opened.Call = approval.Call(d.Profile.rules.Arguments(task.Agent, task.Arguments(), opened.Sets))
	}
	d.askToApprove(task, opened)
	return false
}

// disagrees reports whether an agent may not do what it names because somebody has to agree, and has not, or has agreed to something else. Who has agreed
// to an operation has agreed to nothing that has no name.
func (d *Decision) disagrees(task *workflow.Task, call string) bool {
	if d.Profile.rules.None() || task.Plan == nil {
		return false
	}
	agreed := d.Run.Inquiry(int(task.Approval))
	switch {
	case agreed != nil && agreed.Operation != nil:
		return call != agreed.Call
	case agreed == nil && d.approvalRule(task) != nil, agreed != nil && agreed.Call != "" && call != "" && call != agreed.Call:
		return true
	case !d.namesItsCall(task) || d.Profile.holds(task.Agent, call):
		return false
	}
	rule := d.operationRule(task)
	return rule != nil && rule.Tainted
}

// agreedOutside reports whether people of the profile have agreed to what an attempt does outside because of what comes from there. Of what its
// agent names itself they have only where it was proposed.
func (d *Decision) agreedOutside(task *workflow.Task) bool {
	agreed := d.Run.Inquiry(int(task.Approval))
	return agreed != nil && len(agreed.People) > 0 && (agreed.Operation != nil || d.unapprovedUnasked(task))
}

// disapproved reports whether a task has failed because people have to agree and have not: then nobody else does it instead.
func (d *Decision) disapproved(task *workflow.Task, cause schemas.FailureKind) bool {
	refused := cause == schemas.FailureRejected || cause == schemas.FailureUnapproved
	return refused && !d.Profile.rules.None() && !d.worksAsPerson(task) && (d.approvalRule(task) != nil || d.Run.Proposals(task.ID) > 0)
}

// approvalBy is an inquiry by a rule.
func (d *Decision) approvalBy(rule *schemas.ApprovalRule) schemas.InquiryOpened {
	opened := schemas.InquiryOpened{Kind: schemas.InquiryApproval, Remind: rule.Remind, Expire: rule.Expire, Sets: approval.Fields(rule)}
	if !approval.ByRequester(rule) {
		opened.People = rule.People
	}
	return opened
}

// askToApprove has a task wait until somebody has agreed to it, or fail when that cannot be.
func (d *Decision) askToApprove(task *workflow.Task, opened schemas.InquiryOpened) {
	if cause, detail := d.unaskable(task, &opened); cause != "" {
		d.fail(task, cause, detail)
		return
	}
	d.open(task, &opened)
}

// disapprove ends a task to which somebody has said no, and every other one that would be the same and waits for that.
func (d *Decision) disapprove(task *workflow.Task, hash string) {
	for _, other := range d.Run.Inquiries {
		if other.Open() && other.Kind == schemas.InquiryApproval && other.Hash == hash && !d.Run.Settled() {
			d.closeInquiry(other, schemas.InquiryWithdrawn)
			d.fail(d.Run.Task(other.Task), schemas.FailureRejected, d.texts().Disapproved)
		}
	}
	if !d.Run.Settled() {
		d.fail(task, schemas.FailureRejected, d.texts().Disapproved)
	}
}

// proposes has people asked about what an agent would do, and reports whether they are. The attempt is over then, and not spent.
func (d *Decision) proposes(task *workflow.Task, failed *schemas.TaskFailed) bool {
	if failed.Operation == nil || failed.EffectUnknown || task.Kind != "" || d.Run.Proposals(task.ID) >= maxProposals {
		return false
	}
	rule := d.operationRule(task)
	if rule == nil {
		return false
	}
	opened := d.approvalBy(rule)
	call, err := d.Profile.rules.Proposed(task.Agent, failed.Operation, opened.Sets).Call()
	if err != nil {
		return false
	}
	proposed := d.Profile.rules.Proposed(task.Agent, failed.Operation, nil)
	opened.Attempt, opened.Tokens, opened.Findings = task.Attempt, failed.Tokens, failed.Findings
	opened.Operation, opened.Call, opened.Hash = proposed, call, d.approvalHash(task, proposed)
	if cause, detail := d.unaskable(task, &opened); cause != "" {
		failed.Cause, failed.Category, failed.Detail = cause, "", detail
		return false
	}
	d.open(task, &opened)
	return true
}

// maxProposals bounds what a task proposes.
const maxProposals = 5

// unaskable says why nobody is asked to agree: somebody has said no to the same, or there is nobody, or it does not fit into a letter. Else the inquiry has
// all that they are told.
func (d *Decision) unaskable(task *workflow.Task, opened *schemas.InquiryOpened) (schemas.FailureKind, string) {
	if approval.Refused(d.Run, opened.Hash) {
		return schemas.FailureRejected, d.texts().Disapproved
	}
	reachable := d.reachesRequester()
	if len(opened.People) > 0 {
		reached := d.reachedToApprove(opened.People)
		opened.To, opened.Account, reachable = reached.To, reached.Account, len(reached.To) > 0
	}
	opened.Question = d.proposal(task, opened)
	if !reachable || len(d.Run.Inquiries) >= schemas.MaxInquiries || len(opened.Question) > schemas.RecordInlineLimit {
		return schemas.FailureUnapproved, d.texts().Unasked
	}
	return "", ""
}

// reachedToApprove are those of some people who may agree: whoever has begun the run may not by their name.
func (d *Decision) reachedToApprove(people []string) schemas.InquiryOpened {
	opened := d.reached(people)
	opened.To = slices.DeleteFunc(opened.To, func(to schemas.Address) bool { return d.Run.Message.IsFrom(to.Address) })
	return opened
}

func (d *Decision) reachedFor(inquiry *workflow.Inquiry) schemas.InquiryOpened {
	if inquiry.Kind == schemas.InquiryApproval {
		return d.reachedToApprove(inquiry.People)
	}
	return d.reached(inquiry.People)
}

// proposal is what people are told who are to agree: who does what, with which arguments, how long that takes, and how they decide.
func (d *Decision) proposal(task *workflow.Task, opened *schemas.InquiryOpened) string {
	words := d.Profile.wordsIn(d.Run.Message.Language)
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
	lines := []string{truncate(d.content(task.Plan.Description).Text, maxQuestion), tell(d.Profile.rules.Arguments(task.Agent, task.Arguments(), opened.Sets), d.Profile.ArgumentsSchema(task.Agent))}
	if opened.Operation != nil {
		proposed := d.Profile.rules.Proposed(task.Agent, opened.Operation, opened.Sets)
		lines = []string{proposed.Summary, tell(proposed.Arguments, nil), strings.Join(proposed.Recipients, ", ")}
	}
	if task.Plan.Seconds > 0 || task.Plan.Tokens > 0 {
		lines = append(lines, fmt.Sprintf("(~ %d s, %d tokens)", task.Plan.Seconds, task.Plan.Tokens))
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	approve, reject := d.Profile.decidingWords(d.Run.Message.Language)
	return strings.NewReplacer("{agent}", task.Agent, "{work}", strings.Join(lines, "\n"), "{approve}", approve, "{reject}", reject).Replace(words.Texts.Approval)
}

// Explain tells people how an inquiry is decided, when one of them has said something that decides nothing, at most schemas.MaxExplanations times.
func (d *Decision) Explain(inquiry *workflow.Inquiry) {
	if told := d.Run.Explanations(inquiry.Inquiry); told < schemas.MaxExplanations {
		d.notify(schemas.ExplanationTask(inquiry.Inquiry, told+1))
	}
}
