package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

func readsBareJSON(ctx context.Context, x *exchange) error {
	r, err := x.strayAnswers(ctx) // it names no shard, so it is answered where every agent may answer
	if err != nil {
		return err
	}
	defer r.Close()
	request, _ := x.request(x.Task)
	body, err := schemas.Marshal(request)
	if err != nil {
		return err
	}
	if err := x.sendRaw(ctx, bus.Message{Body: body}); err != nil {
		return err
	}
	return x.hearAbout(ctx, r, request)
}

func readsStructuredEvents(ctx context.Context, x *exchange) error {
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, e := x.request(x.Task)
	if e.Data, err = schemas.Marshal(request); err != nil {
		return err
	}
	body, err := binding.MarshalStructured(&e)
	if err != nil {
		return err
	}
	header := bus.Header{"Content-Type": {"application/cloudevents+json; charset=utf-8"}}
	if err := x.sendRaw(ctx, bus.Message{Header: header, Body: body}); err != nil {
		return err
	}
	return x.hearAbout(ctx, r, request)
}

func readsLargeRequests(ctx context.Context, x *exchange) error {
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, e := x.request(x.Task)
	request.Payload.ValidationCriteria = []string{strings.Repeat("x", artifact.MessageInlineLimit)}
	if e.Data, err = schemas.Marshal(request); err != nil {
		return err
	}
	if err := artifact.Offload(ctx, x.Core.Artifacts(), &e); err != nil {
		return err
	}
	if e.Artifact == nil {
		return errors.New("the request was not offloaded")
	}
	grants, err := artifact.OpenGrants(ctx, x.Core, time.Now())
	if err != nil {
		return err
	}
	grants.GrantBody(bus.RequestSubject(x.Agent), &e)
	if err := x.send(ctx, &e, nil); err != nil {
		return err
	}
	return x.hearAbout(ctx, r, request)
}

func skipsExpired(ctx context.Context, x *exchange) error {
	request, e := x.request(x.Task)
	e.Expires = time.Now().Add(-time.Second)
	if err := x.send(ctx, &e, &request); err != nil {
		return err
	}
	said, err := x.settle(ctx)
	if err == nil && len(said) != 0 {
		return fmt.Errorf("a request that nobody waits for any more got %d answers", len(said))
	}
	return err
}

func survivesGarbage(ctx context.Context, x *exchange) error {
	if x.Program != nil {
		if err := x.sendRaw(ctx, bus.Message{Body: []byte("hello")}); err != nil {
			return err
		}
		if _, err := x.settle(ctx); err != nil {
			return fmt.Errorf("after a message that is no request: %w", err)
		}
		return nil
	}
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
		if err := x.sendRaw(ctx, m); err != nil {
			return err
		}
	}
	if err := x.sendUnreadable(ctx); err != nil {
		return err
	}
	said, err := x.settle(ctx)
	if err == nil && len(said) != 0 {
		return fmt.Errorf("garbage got %+v", said[0].ExecutionResponse)
	}
	return err
}

// sendUnreadable sends requests that say of themselves what is not so.
func (x *exchange) sendUnreadable(ctx context.Context) error {
	_, nowhere := x.request(x.Task)
	nowhere.Artifact = &schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1} // its body
	if err := x.send(ctx, &nowhere, nil); err != nil {
		return err
	}
	request, another := x.request(x.Task)
	another.ID = "another id than the message_id of its body"
	if err := x.send(ctx, &another, &request); err != nil {
		return err
	}
	request, sealed := x.request(x.Task)
	sealed.KeyID = "a key" // whatever the body seems to say
	return x.send(ctx, &sealed, &request)
}

func cloneWith(header bus.Header, name, value string) bus.Header {
	cloned := bus.Header{name: {value}}
	maps.Copy(cloned, header)
	return cloned
}

func refusesInvalid(ctx context.Context, x *exchange) error {
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, e := x.request(x.Task)
	request.Payload.Tasks = []schemas.Task{}
	if err := x.send(ctx, &e, &request); err != nil {
		return err
	}
	got, err := x.hear(ctx, r)
	if err != nil {
		return err
	}
	if got.InReplyTo != request.MessageID || got.Payload.Status != schemas.StatusFailed {
		return fmt.Errorf("the response is %+v", got.ExecutionResponse)
	}
	if issues := got.Payload.IssuesEncountered; len(issues) != 1 || issues[0].Resolution != schemas.ResolutionEscalated {
		return fmt.Errorf("the issues are %+v, and no other attempt can help", issues)
	}
	return nil
}

// refusesUndeclaredKinds: a question to an agent that does not answer such questions is
// refused. By agent.Serve it is refused for good, and nothing is done for it: no sign of
// work comes before, and no other response after.
func refusesUndeclaredKinds(ctx context.Context, x *exchange) error {
	want := map[string]schemas.RequestKind{}
	for _, kind := range []schemas.RequestKind{schemas.KindAssess, schemas.KindPlan, schemas.KindRoute} {
		if slices.Contains(x.Kinds, kind) {
			continue
		}
		request, e := x.request(x.Task)
		request.Payload.Tasks[0].Context.Kind = kind
		if err := x.send(ctx, &e, &request); err != nil {
			return err
		}
		want[request.MessageID] = kind
	}
	if len(want) == 0 {
		return &NotChecked{"the agent declares every kind, so that there is nothing to be refused"}
	}
	said, err := x.settle(ctx, slices.Collect(maps.Keys(want))...)
	if err != nil {
		return err
	}
	if len(said) != len(want) {
		return fmt.Errorf("there are %d responses to %d requests of kinds that it does not declare", len(said), len(want))
	}
	for _, s := range said {
		if err := x.isRefusal(s, want[s.InReplyTo]); err != nil {
			return err
		}
	}
	return x.nothingBegun(ctx, want)
}

func (x *exchange) isRefusal(s spoken, kind schemas.RequestKind) error {
	if s.Payload.Status != schemas.StatusFailed {
		return fmt.Errorf("a request of kind %q is answered as %s, and the agent does not declare that kind", kind, s.Payload.Status)
	}
	issues := s.Payload.IssuesEncountered
	if x.Program == nil && (kind == "" || len(issues) != 1 || issues[0].Resolution != schemas.ResolutionEscalated ||
		issues[0].EffectUnknown || !strings.Contains(issues[0].Description, string(kind))) {
		return fmt.Errorf("a request of kind %q got %+v", kind, s.Payload)
	}
	return nil
}

func (x *exchange) nothingBegun(ctx context.Context, requests map[string]schemas.RequestKind) error {
	subjects := []string{bus.PermitSubject(x.Agent, shard)}
	if x.Program == nil {
		subjects = append(subjects, bus.ProgressSubject(x.Agent, shard))
	}
	for m, err := range x.Core.Scan(ctx, bus.ShardStream(shard), x.from, subjects...) {
		if err != nil {
			return err
		}
		e, err := binding.Decode(m)
		if err != nil {
			return err
		}
		if kind := requests[e.CausationID]; kind != "" {
			return fmt.Errorf("work on a request of kind %s has begun: %s", kind, m.Subject)
		}
	}
	return nil
}
