package chat_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/schemas"
)

// Teams takes an answer in the response or never: what is ready in time stands
// there, and what is not is where the URL leads, in the person's language.
func TestTeamsAnswersInTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settled time.Duration
		waits   []schemas.Fact
		took    time.Duration
		want    []string
	}{
		"in time": {settled: 2 * time.Second, took: 2 * time.Second, want: []string{`"text":"4"`}},
		"asked":   {settled: time.Hour, waits: opened("Welches Jahr?"), want: []string{`"text":"Welches Jahr?"`}},
		"somebody else": {settled: time.Hour, waits: opened("Please call her.", "bob"), want: []string{
			"Wartet auf die Antwort einer anderen Person.", "https://podium.example.org/v1/runs/",
		}},
		"too late": {settled: time.Hour, took: 4 * time.Second, want: []string{"wird bearbeitet", "https://podium.example.org/v1/runs/"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ledger := memory.New(1)
				adapter := newAdapter(t, ledger, everyProvider)
				stop := answerAfter(t, ledger, "teams", test.settled, test.waits...)
				before := time.Now()
				recorder := teamsPost(t, teamsActivity("a1", "2+2")).do(t, adapter)
				if took := time.Since(before); recorder.Code != http.StatusOK || took != test.took && test.took > 0 || took > 4*time.Second {
					t.Errorf("status %d after %s", recorder.Code, took)
				}
				for _, want := range append(test.want, `"type":"message"`, `"textFormat":"plain"`) {
					if !strings.Contains(recorder.Body.String(), want) {
						t.Errorf("%s\nlacks %s", recorder.Body, want)
					}
				}
				stop()
			})
		})
	}
}

// answerAfter settles the run of the first message of a channel as a session
// would; stop waits for it to end or gives it up.
func answerAfter(t *testing.T, ledger bus.Ledger, channel string, settled time.Duration, waits ...schemas.Fact) (stop func()) {
	t.Helper()
	var scripts sync.WaitGroup
	given := make(chan struct{})
	scripts.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		begin := time.Now()
		for len(inputs(t, ledger)) == 0 {
			<-tick.C
		}
		event := inputs(t, ledger)[0]
		accepted := chat.Accepted{ID: event.ID, Sequence: 1, Session: schemas.SessionID(event.Profile, event.PartitionKey)}
		session := newScript(t, ledger, accepted.Session)
		fact := started(accepted, 1)
		schemas.As[*schemas.RunStarted](fact).Message.Reply.Channel, schemas.As[*schemas.RunStarted](fact).Message.Language = channel, "de"
		session.record(received(accepted, 1, schemas.DispositionStarted), fact,
			&schemas.PlanCreated{Run: 1, Tasks: []schemas.PlannedTask{{Task: "t1"}, {Task: "t2"}}},
			&schemas.TaskRouted{Run: 1, Task: "t1", Decision: schemas.RouteDecision{NextAgent: "calculator"}},
			&schemas.TaskDispatched{Run: 1, Task: "t1", Agent: "calculator", Attempt: 1})
		if len(waits) > 0 {
			session.record(waits...)
		}
		timer := time.NewTimer(settled - time.Since(begin))
		defer timer.Stop()
		select {
		case <-timer.C:
			session.settle(1, text("4"))
		case <-given:
		}
	})
	return func() { close(given); scripts.Wait() }
}

// Without a bot, Mattermost's own request is held for the answer, as a comment.
func TestMattermostAnswersInTheResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		adapter := newAdapter(t, ledger, everyProvider, func(c *chat.Config) {
			c.Render = func(kind schemas.ChatProvider, text string) string { return string(kind) + ": " + text }
		})
		stop := answerAfter(t, ledger, "closed", 10*time.Second)
		recorder := mattermostPost("closed", "channel_id=c1&user_id=u1&post_id=p1&text=2%2B2").do(t, adapter)
		if want := `{"response_type":"comment","text":"mattermost: 4"}`; strings.TrimSpace(recorder.Body.String()) != want {
			t.Errorf("%s, want %s", recorder.Body, want)
		}
		stop()
	})
}

// Whoever gives a command reads at once that it has arrived.
func TestCommandsAreAcknowledged(t *testing.T) {
	t.Parallel()
	adapter := newAdapter(t, memory.New(1), everyProvider)
	const form = "channel_id=C1&user_id=U1&command=%2Fask&trigger_id=1.2&text="
	for name, test := range map[string]struct {
		message call
		want    string
	}{
		"slack":      {slackForm(form + "2%2B2"), "worked on"},
		"slack bare": {slackForm(form), "Please add"},
		"mattermost": {mattermostPost("mattermost", form+"2%2B2"), "worked on"},
	} {
		recorder := test.message.do(t, adapter)
		if body := recorder.Body.String(); recorder.Code != http.StatusOK || !strings.Contains(body, `"response_type":"ephemeral"`) || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %s", name, recorder.Code, body)
		}
	}
}

func slackForm(form string) call { return slackPost(form, "Content-Type", formType) }

// Progress is one line that changes, at most every two seconds, and not at all
// for a run that is quick.
func TestProgressIsShown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settled time.Duration
		waits   []schemas.Fact
		want    []string
	}{
		"quick": {settled: time.Second},
		"asked": {settled: time.Hour, waits: opened("Welches Jahr?")},
		"slow":  {settled: 9 * time.Second, want: []string{"In Arbeit: 0 von 2 Schritten sind fertig."}},
		"unserved": {
			settled: 9 * time.Second, want: []string{"Wartet: calculator ist seit 1999-12-31 23:40 UTC nicht in Betrieb."},
			waits: []schemas.Fact{&schemas.TaskUnserved{
				Run: 1, Task: "t1", Agent: "calculator", Since: time.Date(1999, 12, 31, 23, 40, 0, 0, time.UTC),
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ledger := memory.New(1)
				var mutex sync.Mutex
				var notes []string
				adapter := newAdapter(t, ledger, everyProvider, func(c *chat.Config) {
					channel := c.Channels["slack"]
					channel.Progress = true
					c.Channels["slack"] = channel
					c.Note = func(_ context.Context, name, ref string, _ int, text string) error {
						mutex.Lock()
						defer mutex.Unlock()
						if name != "slack" || !strings.HasPrefix(ref, "slack|") {
							t.Errorf("note for %s by %s", name, ref)
						}
						notes = append(notes, text)
						return nil
					}
				})
				stop := answerAfter(t, ledger, "slack", test.settled, test.waits...)
				message := slackPost(slackEvent("message", "Ev1", "1.2", "2+2"))
				for range 2 {
					message.do(t, adapter)
				}
				time.Sleep(20 * time.Second) // the bubble's clock
				adapter.Close()
				adapter.Wait()
				stop()
				if !slices.Equal(notes, test.want) {
					t.Errorf("%q, want %q", notes, test.want)
				}
			})
		})
	}
}
