package bench

import (
	"context"
	"strconv"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
	"podium/supervisor/session"
)

// A workload is what every run does.
type workload struct {
	profile schemas.Profile
	// agents do the work in another process, by name.
	agents map[string]agent.Handler
	// steps are the requests of a run, each behind those that it waits for.
	steps []step
	// event is the input of a run; each is a conversation of its own.
	event func(number uint64) schemas.Event
	// waiting is the input of a run that stays open; nil where there are none.
	waiting func(number uint64) schemas.Event
	// adapter is what the input comes in by.
	adapter string
	// ends says where it is seen that a run has ended.
	ends ends
	// inFlight is how many runs are under way in a round unless the caller says
	// otherwise, width how many requests of one run are at most.
	inFlight, width int
}

// A step is one request of a run.
type step struct {
	task  string
	after []string // tasks whose responses it waits for
}

// ends tells from messages which run has ended.
type ends struct {
	// key names a run as the message does that ends it.
	key func(number uint64) string
	// streams are those to read, with the subjects that matter.
	streams func(shards int) map[string][]string
	// of returns the key of the run that a message ends.
	of func(bus.Message) (key string, ended bool)
}

const (
	profileName = "bench"
	workAgent   = "bench"
	wordBytes   = 500
)

func workloads() map[string]workload {
	return map[string]workload{"single": single(), "w1": diamond(), "w2": fanOut(), "w3": diamondWithOpenRuns()}
}

// pool is how many requests of a workload may be under way: never a limit.
func (w *workload) pool(inFlight int) int { return inFlight * w.width }

// single is a chat message, one task, and the delivery of its answer.
func single() workload {
	profile := benchProfile(schemas.ExecutionSingle)
	profile.Routers = []schemas.Router{{Kind: schemas.RouterDefault, Agent: workAgent}}
	return workload{
		profile: profile,
		agents:  map[string]agent.Handler{workAgent: agent.HandlerFunc(answerAtOnce), session.ChatAgent: agent.HandlerFunc(deliverNowhere)},
		steps:   []step{{task: "t1"}, {task: "reply", after: []string{"t1"}}},
		event:   chatMessage,
		adapter: "bench",
		ends:    endsByRecord(),
		width:   1, inFlight: 64,
	}
}

func benchProfile(mode schemas.ExecutionMode) schemas.Profile {
	noDeadline := schemas.Duration(10 * time.Minute) // a busy machine is slow, not broken
	return schemas.Profile{
		Name: profileName, Language: "en",
		Agents:    []schemas.AgentUse{{Name: workAgent}},
		Execution: schemas.Execution{Mode: mode},
		Retry:     schemas.Retry{Attempts: 1, Wait: schemas.Duration(time.Second)},
		Delivery:  schemas.Retry{Attempts: 1, Wait: schemas.Duration(time.Second)},
		Deadlines: schemas.Deadlines{Queue: noDeadline, Work: noDeadline},
		Languages: []schemas.Language{{Tag: "en", Markers: []string{"the"}, Texts: schemas.Texts{Empty: "Done."}}},
	}
}

// endsByRecord sees the end of a run by the headers of its session's records.
func endsByRecord() ends {
	return ends{
		key: sessionOf,
		streams: func(shards int) map[string][]string {
			streams := make(map[string][]string, shards)
			for shard := range shards {
				streams[bus.ShardStream(shard)] = []string{"podium.session." + strconv.Itoa(shard) + ".*"}
			}
			return streams
		},
		of: func(message bus.Message) (string, bool) {
			subject, err := bus.ParseSubject(message.Subject)
			return subject.Session, err == nil && first(message.Header, "ce-phase") == "complete"
		},
	}
}

// answerAtOnce gives the person's words back.
func answerAtOnce(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	return agent.Text(request.Task().Context.Request), nil
}

// deliverNowhere says what the chat agent says of an answer that its asker fetches.
func deliverNowhere(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	return agent.Data(struct {
		ReplyID   string `json:"reply_id"`
		Delivered string `json:"delivered"`
	}{request.EffectID, "pull"})
}

func conversation(number uint64) string { return "bench/" + strconv.FormatUint(number, 10) }

func sessionOf(number uint64) string { return schemas.SessionID(profileName, conversation(number)) }

// words are what a person has asked for: wordBytes of them.
func words() string {
	return strings.Repeat("the quick brown fox jumps over the lazy dog ", wordBytes/44+1)[:wordBytes]
}

func chatMessage(number uint64) schemas.Event {
	key := conversation(number)
	return inputEvent(number, key, "/podium/chat/bench", schemas.TypeChatReceived, schemas.ChatReceived{
		Provider: "bench", Channel: "bench", Thread: key, MessageID: key, Language: "en", Text: words(),
	})
}

func inputEvent(number uint64, id, source, eventType string, content any) schemas.Event {
	body, err := schemas.Marshal(content)
	if err != nil {
		panic(err) // plain strings are always JSON
	}
	return schemas.Event{
		ID: id, Source: source, Type: eventType, Time: time.Now().UTC(),
		DataContentType: schemas.MediaTypeJSON, PartitionKey: conversation(number), Profile: profileName, Data: body,
	}
}

// first returns the first value of a header, or "".
func first(header bus.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}
