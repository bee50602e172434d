package bench

import (
	"context"
	"strconv"
	"strings"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// A workload is what every run does.
type workload struct {
	profile schemas.Profile
	// agents do the work in another process, by name.
	agents map[string]bus.Handler
	// event is the input of a run; each is a conversation of its own.
	event func(number uint64) schemas.Event
}

const (
	profileName = "bench"
	workAgent   = "bench"
	doorName    = "bench"
	wordBytes   = 500
)

func workloads() map[string]workload {
	return map[string]workload{"single": single()}
}

// single is a chat message, one task, and the delivery of its answer.
func single() workload {
	noDeadline := schemas.Duration(10 * time.Minute) // a busy machine is slow, not broken
	return workload{
		profile: schemas.Profile{
			Name: profileName, Language: "en",
			Agents:    []schemas.AgentUse{{Name: workAgent}},
			Routers:   []schemas.Router{{Kind: schemas.RouterDefault, Agent: workAgent}},
			Execution: schemas.Execution{Mode: schemas.ExecutionSingle},
			Retry:     schemas.Retry{Attempts: 1, Wait: schemas.Duration(time.Second)},
			Delivery:  schemas.Retry{Attempts: 1, Wait: schemas.Duration(time.Second)},
			Deadlines: schemas.Deadlines{Queue: noDeadline, Work: noDeadline},
			Languages: []schemas.Language{{Tag: "en", Markers: []string{"the"}, Texts: schemas.Texts{Empty: "Done."}}},
		},
		agents: map[string]bus.Handler{workAgent: bus.HandlerFunc(answerAtOnce), session.ChatAgent: bus.HandlerFunc(deliverNowhere)},
		event:  chatMessage,
	}
}

// answerAtOnce gives the person's words back.
func answerAtOnce(_ context.Context, request bus.Request, _ bus.Report) (schemas.Result, error) {
	return schemas.Result{Text: request.Task().Context.Request}, nil
}

// deliverNowhere says what the chat agent says of an answer that its asker fetches.
func deliverNowhere(_ context.Context, request bus.Request, _ bus.Report) (schemas.Result, error) {
	receipt, err := schemas.Marshal(struct {
		ReplyID   string `json:"reply_id"`
		Delivered string `json:"delivered"`
	}{request.EffectID, "pull"})
	return schemas.Result{Data: receipt}, err
}

func conversation(number uint64) string { return "bench/" + strconv.FormatUint(number, 10) }

func chatMessage(number uint64) schemas.Event {
	key := conversation(number)
	body, err := schemas.Marshal(schemas.ChatReceived{
		Provider: "bench", Channel: "bench", Thread: key, MessageID: key, Language: "en",
		Text: strings.Repeat("the quick brown fox jumps over the lazy dog ", wordBytes/44+1)[:wordBytes],
	})
	if err != nil {
		panic(err) // plain strings are always JSON
	}
	return schemas.Event{
		ID: key, Source: "/podium/chat/bench", Type: schemas.TypeChatReceived, Time: time.Now().UTC(),
		DataContentType: schemas.MediaTypeJSON, PartitionKey: key, Profile: profileName, Data: body,
	}
}
