package binding_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/bustest/cputime"
	"podium/schemas"
)

// TestNamedRequest: whatever is wrong with a message, the request that it names is found.
func TestNamedRequest(t *testing.T) {
	t.Parallel()
	const shards = 4
	session := schemas.SessionID("desk", "thread")
	run := schemas.RunID(session, 2)
	request := schemas.RequestID(schemas.ShardOf(session, shards), 1, run, "t1", 3)
	other := schemas.RequestID(0, 1, run, "t2", 1)
	for name, test := range map[string]struct {
		header bus.Header
		body   string
		want   string
	}{
		"nothing":              {},
		"garbage":              {body: "\x00\xff garbage"},
		"no object":            {body: `["in_reply_to", "` + request + `"]`},
		"in reply to":          {body: `{"status": 1, "in_reply_to": "` + request + `"}`, want: request},
		"cut off behind":       {body: `{"in_reply_to": "` + request + `", "payload": {"te`, want: request},
		"twice the same name":  {body: `{"a": 1, "a": 2, "in_reply_to": "` + request + `"}`, want: request},
		"not in the payload":   {body: `{"payload": {"in_reply_to": "` + request + `"}}`},
		"a number":             {body: `{"in_reply_to": 17}`},
		"somebody's text":      {body: `{"in_reply_to": "the request of yesterday"}`},
		"as a name":            {body: `{"in_reply_to` + request + `": "` + request + `"}`},
		"structured":           {body: `{"specversion": "9", "causationid": "` + request + `", "data": 1}`, want: request},
		"behind another value": {body: `{"data": 1} {"in_reply_to": "` + request + `"}`, want: request},
		"in another value":     {body: `{"data": 1} [{"in_reply_to": "` + request + `"}]`},
		"in a list of data":    {body: `{"data": [{"in_reply_to": "` + request + `"}]}`},
		"a name with a slash":  {body: `{"data/in_reply_to": "` + request + `"}`},
		"twice":                {body: `{"in_reply_to": "` + other + `", "in_reply_to": "` + request + `"}`, want: request},
		"behind what is deep":  {body: `{"a": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `, "in_reply_to": "` + request + `"}`, want: request},
		"in structured data":   {body: `{"specversion": "1.0", "data": {"in_reply_to": "` + request + `"}}`, want: request},
		"by attribute":         {header: bus.Header{"Ce-Causationid": {request}, "ce-attempt": {"x"}}, body: `{"in_reply_to": "` + other + `"}`, want: request},
		"by its attempt":       {header: bus.Header{"ce-subject": {run + "/t1"}, "ce-attempt": {"3"}}, body: "garbage", want: schemas.AttemptKey(request)},
		"by half an attempt":   {header: bus.Header{"ce-subject": {run}, "ce-attempt": {"3"}}},
		"by no number":         {header: bus.Header{"ce-subject": {run + "/t1"}, "ce-attempt": {"three"}}},
		"by an open escape":    {header: bus.Header{"ce-causationid": {"%" + request}}, body: fmt.Sprintf(`{"in_reply_to": %q}`, other), want: other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := binding.NamedRequest(bus.Message{Header: test.header, Body: []byte(test.body)}, shards); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestNamedRequestOfHostileBody: what a body holds changes nothing about how long it
// takes to look for the request that it names. Both bodies hold the same texts.
//
//nolint:paralleltest // it measures
func TestNamedRequestOfHostileBody(t *testing.T) {
	reading := func(body string) func() {
		message := bus.Message{Body: []byte(body)}
		return func() {
			if got := binding.NamedRequest(message, 1); got != "" {
				t.Errorf("it names %q", got)
			}
		}
	}
	texts := strings.Repeat(`"",`, 10_000)
	flat := reading(`{"a":[` + texts + `0]}`)
	for name, body := range map[string]string{
		"deep":                  strings.Repeat("[", 5_000) + texts,
		"deep objects":          strings.Repeat(`{"data":`, 5_000) + "[" + texts,
		"deep, as far as read":  strings.Repeat("[", schemas.MaxDepth) + texts,
		"below a long name":     `{"` + strings.Repeat("n", 100_000) + `":{` + strings.Repeat(`"a":"",`, 5_000),
		"below a long name too": `{"data":{"` + strings.Repeat("n", 100_000) + `":[` + texts,
	} {
		cputime.Proportion(t, name, 30, flat, reading(body))
	}
}
