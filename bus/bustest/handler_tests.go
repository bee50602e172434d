package bustest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

func testAnswersOnce(t *testing.T, c *conversation) {
	request, e := c.request(t)
	c.send(t, e)
	said := c.settle(t)
	if len(said) != 1 {
		t.Fatalf("%d responses to one request", len(said))
	}
	got := said[0]
	if got.Payload.Status != schemas.StatusCompleted || got.Payload.PlanID != request.Payload.PlanID {
		t.Errorf("payload %+v", got.Payload)
	}
	if got.InReplyTo != request.MessageID || got.To != request.From {
		t.Errorf("envelope %+v", got.Envelope)
	}
	if a := got.event; a.Subject != e.Subject || a.CorrelationID != e.CorrelationID || a.Attempt != e.Attempt || a.EffectID != e.EffectID {
		t.Errorf("attributes %+v", a)
	}
}

func testAnswersMany(t *testing.T, c *conversation) {
	const count = 20
	var want, got []string
	for range count {
		request, e := c.request(t)
		c.send(t, e)
		want = append(want, request.MessageID)
	}
	r := c.reader(t, true)
	for range count {
		got = append(got, c.hear(t, r).InReplyTo)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("answered %v, want %v", got, want)
	}
	if said := c.settle(t); len(said) != count {
		t.Errorf("%d responses to %d requests", len(said), count)
	}
}

func testRepeat(t *testing.T, c *conversation) {
	_, e := c.request(t)
	r := c.reader(t, true)
	c.send(t, e)
	first := c.hear(t, r)
	c.send(t, e)
	second := c.hear(t, r)
	if first.MessageID != second.MessageID || string(first.event.Data) != string(second.event.Data) {
		t.Errorf("a repeat got another response:\n%s\n%s", first.event.Data, second.event.Data)
	}
}

func testBareRequest(t *testing.T, c *conversation) {
	request, _ := c.request(t)
	c.sendRaw(t, bus.Message{Body: marshal(t, request)})
	// It names no shard, so it is answered where every agent may answer.
	if got := c.hear(t, c.reader(t, false)); got.InReplyTo != request.MessageID || got.Payload.Status != schemas.StatusCompleted {
		t.Errorf("response %+v", got.ExecutionResponse)
	}
}

func testStructuredRequest(t *testing.T, c *conversation) {
	request, e := c.request(t)
	body, err := binding.MarshalStructured(&e)
	if err != nil {
		t.Fatal(err)
	}
	c.sendRaw(t, bus.Message{Header: bus.Header{"Content-Type": {"application/cloudevents+json; charset=utf-8"}}, Body: body})
	if got := c.hear(t, c.reader(t, true)); got.InReplyTo != request.MessageID || got.Payload.Status != schemas.StatusCompleted {
		t.Errorf("response %+v", got.ExecutionResponse)
	}
}

func testLargeRequest(t *testing.T, c *conversation) {
	request, e := c.request(t)
	request.Payload.ValidationCriteria = []string{strings.Repeat("x", artifact.MessageInlineLimit)}
	e.Data = marshal(t, request)
	if err := artifact.Offload(deadline(t), c.Core.Artifacts(), &e); err != nil {
		t.Fatal(err)
	}
	if e.Artifact == nil {
		t.Fatal("the request was not offloaded")
	}
	c.grants(t).GrantBody(bus.RequestSubject(c.Agent), &e)
	c.send(t, e)
	if got := c.hear(t, c.reader(t, true)); got.InReplyTo != request.MessageID || got.Payload.Status != schemas.StatusCompleted {
		t.Errorf("response %+v", got.ExecutionResponse)
	}
}

func testExpired(t *testing.T, c *conversation) {
	_, e := c.request(t)
	e.Expires = time.Now().Add(-time.Second)
	c.send(t, e)
	if said := c.settle(t); len(said) != 0 {
		t.Errorf("an expired request got %+v", said[0].ExecutionResponse)
	}
}

func testGarbage(t *testing.T, c *conversation) {
	for i, m := range []bus.Message{
		{},
		{Body: []byte("hello")},
		{Body: []byte(`{"message_id":"1","from":"x","type":"execution_request"}`)},
		{Body: []byte(`{"message_id":"1","from":"x","type":"execution_response"}`)},
		{Header: bus.Header{"ce-specversion": {"1.0"}}, Body: []byte(`{}`)},
		{Header: bus.Header{"ce-id": {"%"}}, Body: []byte(`{}`)},
		{Header: bus.Header{"content-type": {"application/cloudevents+json"}}, Body: []byte(`{"specversion":"1.0","data_base64":1}`)},
	} {
		m.Header = cloneWith(m.Header, "x-test", strconv.Itoa(i))
		c.sendRaw(t, m)
	}
	_, e := c.request(t)
	e.Data, e.Artifact = nil, &schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1}
	c.send(t, e) // its body is nowhere
	_, e = c.request(t)
	e.ID = "another id than the message_id of its body"
	c.send(t, e)
	_, e = c.request(t)
	e.KeyID = "a key" // whatever the body seems to say
	c.send(t, e)
	if said := c.settle(t); len(said) != 0 {
		t.Errorf("garbage got %+v", said[0].ExecutionResponse)
	}
}

func cloneWith(header bus.Header, name, value string) bus.Header {
	cloned := bus.Header{name: {value}}
	maps.Copy(cloned, header)
	return cloned
}

func testInvalidRequest(t *testing.T, c *conversation) {
	request, e := c.request(t)
	request.Payload.Tasks = []schemas.Task{}
	e.Data = marshal(t, request)
	c.send(t, e)
	got := c.hear(t, c.reader(t, true))
	if got.InReplyTo != request.MessageID || got.Payload.Status != schemas.StatusFailed {
		t.Fatalf("response %+v", got.ExecutionResponse)
	}
	if issues := got.Payload.IssuesEncountered; len(issues) != 1 || issues[0].Resolution != schemas.ResolutionEscalated {
		t.Errorf("issues %+v: no other attempt can help", issues)
	}
}

// testUndeclaredKind: a question to an agent that does not answer such questions is
// refused for good, and nothing is done for it: no sign of work comes before, and no
// other response after.
func testUndeclaredKind(t *testing.T, c *conversation) {
	declared := c.Kinds
	if len(declared) == 0 {
		declared = []schemas.TaskKind{schemas.KindWork}
	}
	want := map[string]schemas.TaskKind{}
	for _, kind := range []schemas.TaskKind{schemas.KindAssess, schemas.KindPlan, schemas.KindRoute} {
		if slices.Contains(declared, kind) {
			continue
		}
		request, e := c.request(t)
		request.Payload.Tasks[0].Context.Kind = kind
		e.Data = marshal(t, request)
		c.send(t, e)
		want[request.MessageID] = kind
	}
	if len(want) == 0 {
		t.Fatal("the agent declares every kind, so that there is nothing to be refused")
	}
	said := c.settle(t)
	if len(said) != len(want) {
		t.Fatalf("%d responses to %d requests", len(said), len(want))
	}
	for _, s := range said {
		issues := s.Payload.IssuesEncountered
		kind := string(want[s.InReplyTo])
		if kind == "" || s.Payload.Status != schemas.StatusFailed || len(issues) != 1 ||
			issues[0].Resolution != schemas.ResolutionEscalated || issues[0].EffectUnknown || !strings.Contains(issues[0].Description, kind) {
			t.Errorf("a request of kind %q got %+v", kind, s.Payload)
		}
	}
	for m, err := range c.Core.Scan(deadline(t), bus.ShardStream(1), 1, bus.ProgressSubject(c.Agent, 1), bus.PermitSubject(c.Agent, 1)) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := binding.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if kind := want[e.CausationID]; kind != "" {
			t.Errorf("work on a request of kind %s has begun: %s", kind, m.Subject)
		}
	}
}
