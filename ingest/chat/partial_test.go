package chat_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus/memory"
	"podium/bus/partial"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

// tell has an agent say what its result says from an offset on.
func tell(t *testing.T, hub *partial.Hub, agent string, offset int, text string) {
	t.Helper()
	body, err := schemas.Marshal(schemas.Partial{Request: firstRequest, Offset: offset, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if err := hub.Take(agent, body); err != nil {
		t.Fatal(err)
	}
}

func streaming(hub *partial.Hub) func(*chat.Config) {
	return func(config *chat.Config) { config.Runs.Said = hub.Said }
}

// texts puts together what a reader of a stream is shown before the answer.
func texts(t *testing.T, stream string) (shown []string) {
	t.Helper()
	events, _ := parseEvents(t, stream)
	text := ""
	for _, event := range events {
		if event.name != "partial" {
			continue
		}
		told := read[runs.Partial](t, []byte(event.data))
		if event.id != "" || told.Task != "t1" || told.Attempt != 1 || told.Offset != 0 && told.Offset != len(text) {
			t.Errorf("%+v", event)
		}
		if told.Offset == 0 {
			text = ""
		}
		text += told.Text
		shown = append(shown, text)
	}
	return shown
}

// TestEventsOfAnAnswerThatComes_O35: a reader sees what is said as it is said, one who comes later all of it at once, and nobody
// what an agent says that has not been asked.
func TestEventsOfAnAnswerThatComes_O35(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger, hub := memory.New(2), partial.New()
		adapter := newAdapter(t, ledger, streaming(hub))
		accepted := accept(t, adapter, post("web", hello))
		var early, late, plain tap
		done := []chan struct{}{follow(t.Context(), adapter, &early, get(accepted.Events))}
		session := newScript(t, ledger, accepted.Session)
		hub.Expect("calculator", firstRequest, time.Time{})
		session.begin(accepted, 1)
		synctest.Wait()
		for _, text := range []string{"Good ", "mor", "ning"} {
			said, _ := hub.Said(firstRequest)
			tell(t, hub, "calculator", len(said), text)
			synctest.Wait()
		}
		tell(t, hub, "calculator", 5, "evening")
		synctest.Wait()
		if got := strings.Join(texts(t, early.seen()), "|"); got != "Good |Good mor|Good morning|Good evening" {
			t.Errorf("shown %q", got)
		}
		done = append(done, follow(t.Context(), adapter, &late, get(accepted.Events)))
		done = append(done, follow(t.Context(), newAdapter(t, ledger), &plain, get(accepted.Events)))
		synctest.Wait()
		if got := strings.Join(texts(t, late.seen()), "|"); got != "Good evening" {
			t.Errorf("who comes later is shown %q", got)
		}
		session.work(1)
		session.settle(1, text("Good night"))
		synctest.Wait()
		tell(t, hub, "calculator", 0, "after the answer")
		session.end(1)
		for _, ended := range done {
			<-ended
		}
		if got := texts(t, early.seen()); len(got) != 4 {
			t.Errorf("after the answer: %q", got)
		}
		if got := texts(t, plain.seen()); len(got) != 0 || !strings.Contains(plain.seen(), "Good night") {
			t.Errorf("without streaming: %q", got)
		}
	})
}

// TestAnswerThatComesInAChat_O35: a chat with progress shows the words so far in the place of the line.
func TestAnswerThatComesInAChat_O35(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger, hub := memory.New(2), partial.New()
		var mu sync.Mutex
		var notes []string
		adapter := newAdapter(t, ledger, streaming(hub), everyProvider, func(config *chat.Config) {
			telegram := config.Channels["telegram"]
			telegram.Progress = true
			config.Channels["telegram"] = telegram
			config.Note = func(_ context.Context, _, _ string, _ int, text string) error {
				mu.Lock()
				defer mu.Unlock()
				notes = append(notes, text)
				return nil
			}
		})
		if reply := telegramPost(telegramUpdate(1, "2+2?")).do(t, adapter); reply.Code != http.StatusOK {
			t.Fatal(reply.Code)
		}
		event := inputs(t, ledger)[0]
		accepted := chat.Accepted{ID: event.ID, Session: event.Session(), Sequence: 1}
		session := newScript(t, ledger, accepted.Session)
		hub.Expect("calculator", firstRequest, time.Time{})
		session.begin(accepted, 1)
		time.Sleep(3 * time.Second)
		tell(t, hub, "calculator", 0, "Good")
		time.Sleep(2 * time.Second)
		tell(t, hub, "calculator", 4, " morning")
		time.Sleep(2 * time.Second)
		session.work(1)
		session.settle(1, text("Good night"))
		session.end(1)
		adapter.Close()
		adapter.Wait()
		if got := strings.Join(notes, "|"); !strings.HasSuffix(got, "|Good …|Good morning …") || len(notes) != 3 {
			t.Errorf("shown %q", got)
		}
	})
}
