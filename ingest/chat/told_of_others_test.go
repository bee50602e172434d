package chat_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/memory"
	"podium/schemas"
)

// TestRunURLShowsNoNotificationResults: what the emails that ask an approver have come to is shown on no way out of a run: neither their
// Message-IDs, nor the approver's address, nor the words of their mail server. What asks, and that it was sent, is.
func TestRunURLShowsNoNotificationResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		adapter := newAdapter(t, ledger)
		first := accept(t, adapter, post("web", hello))
		session := newScript(t, ledger, first.Session)
		session.begin(first, 1)
		const secret = "secret-of-the-approver"
		receipt := schemas.Content{Result: schemas.Result{Text: secret, Data: jsontext.Value(`{"message_id":"` + secret + `"}`)}}
		findings := &schemas.Findings{Recommendations: []string{secret}}
		notice := func(n int) string { return schemas.NoticeTask(1, n) }
		session.record(&schemas.InquiryOpened{
			Run: 1, Inquiry: 1, Task: "t1", Attempt: 1, Kind: schemas.HumanTaskInput, Question: "May it?", People: []string{"anna"},
			To: []schemas.Address{{Address: secret}}, Account: secret, Expire: schemas.Duration(time.Hour), Remind: schemas.Duration(time.Minute),
		}, &schemas.TaskDispatched{Run: 1, Task: notice(1), Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: 1, Notification: schemas.NotificationQuestion}, Agent: "mail", Attempt: 1})
		session.record(&schemas.TaskFailed{
			Run: 1, Task: notice(1), Attempt: 1, Cause: schemas.FailureAgent, Detail: secret, Result: receipt, Findings: findings, RetryAt: time.Now().Add(time.Second),
		})
		session.record(&schemas.TaskDispatched{Run: 1, Task: notice(1), Kind: schemas.TaskKindNotify, About: &schemas.TaskAbout{HumanTask: 1, Notification: schemas.NotificationQuestion}, Agent: "mail", Attempt: 2})
		session.record(&schemas.TaskStarted{Run: 1, Task: notice(1), Attempt: 2})
		session.record(&schemas.TaskCompleted{Run: 1, Task: notice(1), Attempt: 2, Result: receipt, Findings: findings, Proven: []string{secret}, Unproven: []string{secret}})
		session.record(&schemas.DeliveryBounced{Run: 1, Inquiry: 1, Message: "m", Action: "delayed", Recipient: secret})
		hidden := func(when string) {
			t.Helper()
			for way, c := range map[string]call{
				"the document": get(first.Run), "the wait": get(first.Run, "Prefer", "wait=1"), "another message": post("web", hello, "Webhook-Id", "m1", "Prefer", "wait=1"),
			} {
				if told := c.do(t, adapter); told.Code >= http.StatusBadRequest || strings.Contains(told.Body.String(), secret) {
					t.Errorf("%s, %s shows it: %d %s", when, way, told.Code, told.Body)
				}
			}
		}
		hidden("while people are asked")
		session.record(&schemas.InquiryAnswered{Run: 1, Inquiry: 1, Choice: schemas.ChoiceAnswer, Actor: schemas.Actor{Via: schemas.ViaMail, ID: "anna"}},
			&schemas.TaskDispatched{Run: 1, Task: "t1", Agent: "calculator", Attempt: 2},
			&schemas.TaskCompleted{Run: 1, Task: "t1", Attempt: 2, Result: text("4")},
			&schemas.RunSettled{Run: 1, Status: schemas.RunCompleted, Reason: schemas.StopCompleted, Answer: []schemas.AnswerPart{{Task: "t1", Body: text("4")}}},
			&schemas.TaskDispatched{Run: 1, Task: schemas.DeliveryTask, Agent: "mail", Attempt: 1})
		session.record(&schemas.TaskCompleted{Run: 1, Task: schemas.DeliveryTask, Attempt: 1, Result: receipt},
			&schemas.RunEnded{Run: 1, Status: schemas.RunCompleted, Reason: schemas.StopCompleted, Replied: secret})
		// An email of the approver begins a run of the same session: its ids are those of the email that asked them.
		byMail := schemas.RunStarted{Run: 2, Profile: profile, Message: schemas.Incoming{
			ID: "by-mail", Channel: schemas.ChannelEmail, Language: "en", Text: text("When?"), Reply: &schemas.Reply{Agent: schemas.MailDelivery, InReplyTo: secret, References: []string{secret}},
		}}
		session.record(&schemas.MessageReceived{ID: "by-mail", Run: 2, Disposition: schemas.DispositionStarted, Message: &byMail.Message}, &byMail)
		hidden("in the end")
		_, key, _ := strings.Cut(first.Run, "?")
		second := "/v1/runs/" + schemas.RunID(first.Session, 2)
		events := get(first.Events).do(t, adapter).Body.String() + get(second+"?"+key).do(t, adapter).Body.String()
		if strings.Contains(events, secret) {
			t.Errorf("the events, or the next run, show it: %s", events)
		}
		if told := []string{"May it?", "task_completed", notice(1), "delivery_bounced", "4", "When?"}; !containsAll(events, told) {
			t.Errorf("they do not show %q: %s", told, events)
		}
	})
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
