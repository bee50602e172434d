package carddav_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"podium/agents/carddav"
	"podium/agents/dav"
	"podium/agents/dav/radicale"
	"podium/bus/agent"
	"podium/schemas"
)

func newAgent(tb testing.TB, at string, change ...func(*carddav.Config)) *carddav.Agent {
	tb.Helper()
	settings := carddav.Config{
		Server: dav.Config{
			URL: at + radicale.Contacts, User: radicale.User, Password: radicale.Password, Timeout: 20 * time.Second,
			Client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		},
		Now: func() time.Time { return time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC) },
	}
	for _, apply := range change {
		apply(&settings)
	}
	made, err := carddav.New(settings)
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// asked is the first delivery of a request: an action, and what it says of a contact.
func asked(effect, action, contact string) *agent.Request {
	arguments := `{"action":"` + action + `","contact_data":` + contact + `}`
	return &agent.Request{
		ExecutionRequest: schemas.ExecutionRequest{
			Envelope: schemas.Envelope{MessageID: "request-" + effect, Type: schemas.EnvelopeTypeExecutionRequest},
			Payload: schemas.RequestPayload{PlanID: "p", Tasks: []schemas.Task{{
				TaskID: "t1", Context: schemas.TaskContext{Arguments: []byte(arguments), Constraints: []byte(`{"language":"de"}`)},
			}}},
		},
		Attempt: 1, EffectID: effect, Deliveries: 1,
	}
}

// again is a further attempt at the same effect.
func again(request *agent.Request) *agent.Request {
	next := *request
	next.Attempt = request.Attempt + 1
	return &next
}

func answered(request *agent.Request, need, values string) *agent.Request {
	next := again(request)
	next.Payload.Tasks = append([]schemas.Task{}, next.Payload.Tasks...)
	context := &next.Payload.Tasks[0].Context
	context.Answers = append(append([]schemas.InquiryAnswer{}, context.Answers...), schemas.InquiryAnswer{Inquiry: "i", Needs: []string{need}, Values: []byte(values)})
	return next
}

func silent(int, string) {}

// handled is the outcome of a request that is done.
func handled(tb testing.TB, made *carddav.Agent, request *agent.Request) (agent.Outcome, []carddav.Contact) {
	tb.Helper()
	outcome, err := made.Handle(tb.Context(), request, silent)
	if err != nil {
		tb.Fatalf("%s: %v", request.Task().Context.Arguments, err)
	}
	var result carddav.Result
	if len(outcome.Data) > 0 {
		if err := json.Unmarshal(outcome.Data, &result); err != nil {
			tb.Fatal(err)
		}
	}
	return outcome, result.Contacts
}

// failed is the failure of a request that is not done.
func failed(tb testing.TB, made *carddav.Agent, request *agent.Request) *agent.Failure {
	tb.Helper()
	outcome, err := made.Handle(tb.Context(), request, silent)
	failure, is := errors.AsType[*agent.Failure](err)
	if !is {
		tb.Fatalf("%s: %+v, %v", request.Task().Context.Arguments, outcome, err)
	}
	return failure
}

func stored(tb testing.TB, server *radicale.Server) int {
	tb.Helper()
	return len(server.Names(tb, radicale.Contacts, ".vcf"))
}

// card puts a contact of somebody else into the address book.
func card(tb testing.TB, server *radicale.Server, uid string, lines ...string) {
	tb.Helper()
	server.Put(tb, radicale.Contacts+uid+".vcf", cardOf(uid, lines...))
}

func cardOf(uid string, lines ...string) string {
	return strings.Join(append(append([]string{"BEGIN:VCARD", "VERSION:3.0", "UID:" + uid}, lines...), "END:VCARD", ""), "\r\n")
}

// meanwhile is a permit, before which something happens.
func meanwhile(happens func()) func(context.Context) error {
	return func(context.Context) error {
		happens()
		return nil
	}
}
