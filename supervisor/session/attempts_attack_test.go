package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"podium/schemas"
)

const lookAgain = "\nrequest id=r%d effect=e1 attempt=%[1]d payload\ntasks:\n- {task_id: look, description: \"Look at the arm.\", assigned_to: doctor}\n----\n"

func look(attempt int) string { return fmt.Sprintf(lookAgain, attempt) }

const letterSent = "\nanswer task=ask:1:1 receipt=q1@support.example\n----\n"

// TestResultOfSomethingElseIsNotBrought: a result is brought if its agent would be told the same: files of its task, who has written, and what was said before are
// told.
func TestResultOfSomethingElseIsNotBrought(t *testing.T) {
	t.Parallel()
	const profile = "\nprofile mode=dag\ncontext: {messages: 6, bytes: 4096}\nplanner: {kind: external}\nagents: [{name: clerk}, {name: summary}]\n" +
		"routers: [{kind: assigned}]\n----\n"
	file := func(of string) string {
		return fmt.Sprintf("attachments: [{id: a1, name: invoice.pdf, size: 3, sha256: %q, from: message, grant: given}]", strings.Repeat(of, 64))
	}
	said := func(words, by string) string {
		return fmt.Sprintf("conversation: {state: ongoing, messages: [{by: requester, text: %q}]}, message: {channel: email, from: {address: %s}, origin: proven}", words, by)
	}
	request := func(n int, check, pay string) string {
		return fmt.Sprintf("\nrequest id=r%d effect=e1 attempt=%[1]d payload\ntasks:\n"+
			"- {task_id: check, description: Check the invoice., assigned_to: clerk, context: {%[2]s}}\n"+
			"- {task_id: pay, description: Pay it., assigned_to: summary, context: {%[3]s}, dependencies: [check]}\n----\n", n, check, pay)
	}
	for name, c := range map[string]struct {
		first, second [2]string // of check and of pay
		brought       int
	}{
		"the same":             {[2]string{file("a"), file("b")}, [2]string{file("a"), file("b")}, 1},
		"another file":         {[2]string{file("a")}, [2]string{file("b")}, 0},
		"file of another task": {[2]string{file("a"), file("b")}, [2]string{file("b"), file("a")}, 0},
		"the same was said":    {[2]string{said("For Ana.", "ana@example.org")}, [2]string{said("For Ana.", "ana@example.org")}, 1},
		"other words before":   {[2]string{said("For Ana.", "ana@example.org")}, [2]string{said("For Ben.", "ana@example.org")}, 0},
		"another writer":       {[2]string{said("For me.", "ana@example.org")}, [2]string{said("For me.", "ben@example.org")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := attack(t, profile+request(1, c.first[0], c.first[1])+"\nanswer task=check\nIt is right.\n----\n"+request(2, c.second[0], c.second[1]))
			if s.facts["brought"] != c.brought {
				t.Errorf("%d results are brought, want %d:\n%s", s.facts["brought"], c.brought, strings.Join(told, "\n"))
			}
		})
	}
}

// TestReminderThatWasTakenBackIsMade: a reminder that has not gone out with the run that was to send it is made by the run that adopts its inquiry.
func TestReminderThatWasTakenBackIsMade(t *testing.T) {
	t.Parallel()
	profile := strings.Replace(attemptsProfile, "expire: 48h}", "remind: 4h, expire: 48h}", 1)
	s, told := attack(t, profile+look(1)+letterSent+"\nroom mail=0\n----\n\nadvance 4h\n----\n\nroom mail=free\n----\n"+look(2)+"\nadvance 1h\n----\n")
	if s.facts["adopted"] != 1 {
		t.Fatalf("nothing is adopted:\n%s", strings.Join(told, "\n"))
	}
	reminded := slices.ContainsFunc(s.state.Deadlines(), func(due schemas.Deadline) bool { return due.Kind == schemas.DeadlineRemind })
	for task := range s.state.Active.All {
		reminded = reminded || task.ID == schemas.NoticeTask(1, 2)
	}
	if !reminded {
		t.Errorf("nobody is reminded any more:\n%s", strings.Join(told, "\n"))
	}
}

// TestHeldWordOutlivesABounce: what somebody has said between two attempts counts, whatever a mail system says of the letter later.
func TestHeldWordOutlivesABounce(t *testing.T) {
	t.Parallel()
	s, told := attack(t, attemptsProfile+look(1)+letterSent+"\ncancel request=r1 id=x1\n----\n"+
		"\nmail id=m1 from=anna@practice.example answers=1.1\nIt is a rash.\n----\n"+
		"\nmail id=b1 bounce-of=1 notice=ask:1:1 action=failed status=5.1.1\n----\n"+look(2))
	if s.facts["inquiry_answered"] != 1 {
		t.Errorf("her word is lost:\n%s", strings.Join(told, "\n"))
	}
}

// TestHeldWordCountsOnce: one word is said to one inquiry; the people behind the agent's fallback are asked by a letter of their own.
func TestHeldWordCountsOnce(t *testing.T) {
	t.Parallel()
	profile := strings.Replace(attemptsProfile, "expire: 48h}}", "expire: 48h}, fallback: nurse}\n  - {name: nurse, person: {people: [anna], expire: 48h}}", 1)
	s, told := attack(t, profile+look(1)+letterSent+"\ncancel request=r1 id=x1\n----\n"+"\nword id=w1 run=1 inquiry=1 reject\n----\n"+look(2))
	if s.facts["inquiry_answered"] != 1 {
		t.Errorf("one word counts %d times:\n%s", s.facts["inquiry_answered"], strings.Join(told, "\n"))
	}
}
