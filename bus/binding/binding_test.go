package binding_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"pgregory.net/rapid"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

var hash = strings.Repeat("0a", 32)

func fullEvent() schemas.Event {
	return schemas.Event{
		ID: "id", Source: "/podium/echo", Type: schemas.TypeExecutionRequest, Subject: "run/task",
		Time:            time.Date(2026, 5, 1, 12, 30, 0, 123_000_000, time.UTC),
		DataContentType: schemas.MediaTypeJSON, DataSchema: "https://podium.dev/s",
		PartitionKey: "key", Profile: "praxis", CorrelationID: "run", CausationID: "cause", Attempt: 2, EffectID: "effect",
		Expires: time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC), ReplyTo: "podium.agent.echo.response.0",
		TraceParent: "00-a-b-01", Phase: "work", SnapshotSequence: 1 << 40, PreviousSequence: 7, Permit: "permit", First: "server",
		Data: []byte(`{"a":1}`),
	}
}

func TestEncodeWritesBinaryMode(t *testing.T) {
	t.Parallel()
	e := fullEvent()
	m, err := binding.Encode("podium.agent.echo.request", &e)
	if err != nil {
		t.Fatal(err)
	}
	want := bus.Header{
		"ce-specversion": {"1.0"}, "ce-id": {"id"}, "ce-source": {"/podium/echo"}, "ce-type": {"podium.execution_request.v1"},
		"ce-subject": {"run/task"}, "ce-time": {"2026-05-01T12:30:00.123Z"}, "ce-datacontenttype": {"application/json"},
		"ce-dataschema": {"https://podium.dev/s"}, "ce-partitionkey": {"key"}, "ce-profile": {"praxis"}, "ce-correlationid": {"run"},
		"ce-causationid": {"cause"}, "ce-attempt": {"2"}, "ce-effectid": {"effect"}, "ce-expires": {"2026-05-02T00:00:00Z"},
		"ce-replyto": {"podium.agent.echo.response.0"}, "ce-traceparent": {"00-a-b-01"},
		"ce-phase": {"work"}, "ce-snapshotseq": {"1099511627776"}, "ce-prevseq": {"7"}, "ce-permit": {"permit"}, "ce-first": {"server"},
	}
	if !reflect.DeepEqual(m.Header, want) || m.Subject != "podium.agent.echo.request" || string(m.Body) != `{"a":1}` {
		t.Errorf("message %+v, want headers %v", m, want)
	}
}

// TestSessionOfAnEvent_I22: only a mail names the session that it belongs to. Of anything
// else the attribute means nothing, and it cannot be written.
func TestSessionOfAnEvent_I22(t *testing.T) {
	t.Parallel()
	session := schemas.SessionID("praxis", "another")
	for name, test := range map[string]struct {
		kind    string
		session string
		encoded bool
		decoded string // the session; empty: it cannot be read
	}{
		"mail":                {schemas.TypeEmailReceived, session, true, session},
		"mail of a thread":    {schemas.TypeEmailReceived, "", true, schemas.SessionID("praxis", "key")},
		"another spelling":    {schemas.TypeEmailReceived, strings.ToUpper(session), false, ""},
		"no session":          {schemas.TypeEmailReceived, "another", false, ""},
		"chat":                {schemas.TypeChatReceived, session, false, schemas.SessionID("praxis", "key")},
		"request":             {schemas.TypeExecutionRequest, session, false, schemas.SessionID("praxis", "key")},
		"request of an agent": {schemas.TypeExecutionRequest, "s-1", false, schemas.SessionID("praxis", "key")},
	} {
		e := schemas.Event{ID: "1", Source: "/s", Type: test.kind, Profile: "praxis", PartitionKey: "key", SessionID: test.session}
		if _, err := binding.Encode("x", &e); (err == nil) != test.encoded || err != nil && !errors.Is(err, schemas.ErrInvalidEvent) {
			t.Errorf("%s: %v", name, err)
		}
		header := bus.Header{
			"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/s"}, "ce-type": {test.kind}, "ce-profile": {"praxis"}, "ce-partitionkey": {"key"},
		}
		if test.session != "" {
			header["ce-sessionid"] = []string{test.session}
		}
		read, err := binding.Decode(bus.Message{Header: header})
		if malformed := errors.As(err, new(*bus.MalformedError)); malformed != (test.decoded == "") || !malformed && read.Session() != test.decoded {
			t.Errorf("%s: read as %q, %v", name, read.Session(), err)
		}
	}
}

// The example of the CloudEvents NATS binding, section 3.1.3.2, and its rules.
func TestHeaderValues(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"Euro € 😀": "Euro%20%E2%82%AC%20%F0%9F%98%80",
		`a"b`:      "a%22b", "100%": "100%25", "%20": "%2520", "~!#&'()*+/:;=?@[]\\": "~!#&'()*+/:;=?@[]\\",
		"\x00\r\n\x1f\x7f\u0085": "%00%0D%0A%1F%7F%C2%85", "Grüße": "Gr%C3%BC%C3%9Fe",
	} {
		e := schemas.Event{ID: value, Source: "s", Type: "t"}
		m, err := binding.Encode("x", &e)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Header["ce-id"][0]; got != want {
			t.Errorf("%q is written %q, want %q", value, got, want)
		}
	}
	for header, want := range map[string]string{
		"%c3%a4": "ä", "%41BC": "ABC", `"quoted \"v\" \\"`: `quoted "v" \`, `a"b c"d`: "ab cd", " padded\t": "padded", "äö": "äö", `"%2522"`: "%22",
	} {
		e, err := binding.Decode(binary("ce-id", header))
		if err != nil || e.ID != want {
			t.Errorf("%q reads %q, %v; want %q", header, e.ID, err, want)
		}
	}
	for _, header := range []string{"%", "%4", "%zz", "a%C0%A0", "%ED%A0%80", "%FF", `"open`, `"half\`, "\xff"} {
		if e, err := binding.Decode(binary("ce-id", header)); !isMalformed(err) {
			t.Errorf("%q reads %q, %v; want a MalformedError", header, e.ID, err)
		}
	}
}

func binary(pairs ...string) bus.Message {
	m := bus.Message{Header: bus.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/s"}, "ce-type": {"t"}}}
	for i := 0; i < len(pairs); i += 2 {
		m.Header[pairs[i]] = []string{pairs[i+1]}
	}
	return m
}

func isMalformed(err error) bool {
	var malformed *bus.MalformedError
	return errors.As(err, &malformed) && malformed.Detail != ""
}

func TestDecodeModes(t *testing.T) {
	t.Parallel()
	stamp := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	bare := `{"message_id":"7f1b","from":"agent one","to":"supervisor","type":"execution_response","timestamp":"2026-05-01T14:00:00+02:00","in_reply_to":"q","payload":{}}`
	structured := `{"specversion":"1.0","id":"1","source":"/s","type":"t","time":"2026-05-01T12:00:00Z","attempt":3,"snapshotseq":"9007199254740993","datacontenttype":"application/json","data":{"a": 1}}`
	inStructured := schemas.Event{ID: "1", Source: "/s", Type: "t", Time: stamp, Attempt: 3, SnapshotSequence: 9007199254740993, DataContentType: schemas.MediaTypeJSON, Data: []byte(`{"a": 1}`)}
	for name, c := range map[string]struct {
		message bus.Message
		want    schemas.Event
	}{
		"Bare": {
			bus.Message{Header: bus.Header{"Nats-Msg-Id": {"x"}}, Body: []byte(bare)},
			schemas.Event{ID: "7f1b", Source: "/podium/agent%20one", Type: schemas.TypeExecutionResponse, Time: stamp, CausationID: "q", DataContentType: schemas.MediaTypeJSON, Data: []byte(bare)},
		},
		"BareWithoutTime": {
			bus.Message{Body: []byte(strings.Replace(bare, "2026-05-01T14:00:00+02:00", "yesterday", 1))},
			schemas.Event{ID: "7f1b", Source: "/podium/agent%20one", Type: schemas.TypeExecutionResponse, CausationID: "q", DataContentType: schemas.MediaTypeJSON, Data: []byte(strings.Replace(bare, "2026-05-01T14:00:00+02:00", "yesterday", 1))},
		},
		"Structured":           {bus.Message{Header: bus.Header{"Content-Type": {"Application/CloudEvents+JSON; charset=utf-8"}}, Body: []byte(structured)}, inStructured},
		"StructuredPlainType":  {bus.Message{Header: bus.Header{"content-type": {"application/cloudevents"}}, Body: []byte(structured)}, inStructured},
		"StructuredNoHeader":   {bus.Message{Body: []byte(structured)}, inStructured},
		"BinaryOtherCase":      {bus.Message{Header: bus.Header{"Ce-Specversion": {"1.0"}, "CE-ID": {"1"}, "ce-Source": {"/s"}, "Ce-Type": {"t"}}, Body: []byte("x")}, schemas.Event{ID: "1", Source: "/s", Type: "t", Data: []byte("x")}},
		"BinaryWithContentTyp": {bus.Message{Header: bus.Header{"Content-Type": {"application/json"}, "ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/s"}, "ce-type": {"t"}, "ce-unknown": {"%"}}}, schemas.Event{ID: "1", Source: "/s", Type: "t"}},
		"Base64":               {bus.Message{Header: bus.Header{"content-type": {"application/cloudevents+json"}}, Body: []byte(`{"specversion":"1.0","id":"1","source":"/s","type":"t","data_base64":"AP8="}`)}, schemas.Event{ID: "1", Source: "/s", Type: "t", Data: []byte{0, 255}}},
		"Claim": {
			binary("ce-dataref", "podium-artifact:"+hash, "ce-datahash", hash, "ce-datasize", "300000", "ce-datamediatype", "text/plain"),
			schemas.Event{ID: "1", Source: "/s", Type: "t", Artifact: &schemas.Artifact{SHA256: hash, Size: 300000, MediaType: "text/plain"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := binding.Decode(c.message)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestDecodeMalformed(t *testing.T) {
	t.Parallel()
	structured := func(body string) bus.Message {
		return bus.Message{Header: bus.Header{"content-type": {"application/cloudevents+json"}}, Body: []byte(body)}
	}
	twice := binary()
	twice.Header["ce-id"] = []string{"1", "2"}
	withBody := binary("ce-dataref", "podium-artifact:"+hash)
	withBody.Body = []byte("x")
	for name, c := range map[string]struct {
		message bus.Message
		detail  string
	}{
		"Empty":              {bus.Message{}, "not a documented message"},
		"NoMessageID":        {bus.Message{Body: []byte(`{"from":"a","type":"execution_response"}`)}, "message_id"},
		"DuplicateName":      {bus.Message{Body: []byte(`{"message_id":"1","from":"a","type":"x","from":"b"}`)}, "not a documented message"},
		"OtherCase":          {bus.Message{Body: []byte(`{"MESSAGE_ID":"1","from":"a","type":"x"}`)}, "message_id"},
		"NoSpecVersion":      {bus.Message{Header: bus.Header{"ce-id": {"1"}}}, "specversion"},
		"OtherSpecVersion":   {binary("ce-specversion", "0.3"), "specversion"},
		"NoSource":           {binary("ce-source", ""), "source"},
		"GivenTwice":         {twice, "id is given more than once"},
		"TwiceByCase":        {binary("CE-ID", "2"), "id is given more than once"},
		"Time":               {binary("ce-time", "yesterday"), "time"},
		"Attempt":            {binary("ce-attempt", "-1"), "attempt"},
		"AttemptTooLarge":    {binary("ce-attempt", "4294967296"), "attempt"},
		"OtherReference":     {binary("ce-dataref", "http://169.254.169.254/"), "dataref"},
		"ShortHash":          {binary("ce-dataref", "podium-artifact:00"), "dataref"},
		"HashContradicts":    {binary("ce-dataref", "podium-artifact:"+hash, "ce-datahash", strings.Repeat("1", 64)), "datahash"},
		"Size":               {binary("ce-dataref", "podium-artifact:"+hash, "ce-datasize", "-1"), "datasize"},
		"DataAndReference":   {withBody, "both"},
		"StructuredNotJSON":  {structured(`{`), "not a CloudEvent"},
		"StructuredTrailing": {structured(`{"specversion":"1.0","id":"1","source":"/s","type":"t"} {}`), "not a CloudEvent"},
		"StructuredVersion":  {structured(`{"specversion":"0.3","id":"1","source":"/s","type":"t","datacontentencoding":""}`), "specversion"},
		"StructuredBase64":   {structured(`{"specversion":"1.0","data_base64":1,"id":"1","source":"/s","type":"t"}`), "not a CloudEvent"},
		"StructuredMissing":  {structured(`{"specversion":"1.0"}`), "id, source, type"},
		"StructuredName":     {structured(`{"specversion":"1.0","id":"1","source":"/s","type":"t","not_a_name":1}`), "not a CloudEvent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := binding.Decode(c.message)
			if !isMalformed(err) || !strings.Contains(err.Error(), c.detail) {
				t.Errorf("got %+v, %v; want a MalformedError about %q", e, err, c.detail)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]schemas.Event{
		"NoID":        {Source: "/s", Type: "t"},
		"NotUTF8":     {ID: "\xff", Source: "/s", Type: "t"},
		"Long":        {ID: "1", Source: "/s", Type: "t", PartitionKey: strings.Repeat("k", 1025)},
		"Year":        {ID: "1", Source: "/s", Type: "t", Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"Attempt":     {ID: "1", Source: "/s", Type: "t", Attempt: -1},
		"DataTwice":   {ID: "1", Source: "/s", Type: "t", Data: []byte("x"), Artifact: &schemas.Artifact{SHA256: hash}},
		"ArtifactSHA": {ID: "1", Source: "/s", Type: "t", Artifact: &schemas.Artifact{SHA256: "../x"}},
	} {
		if _, err := binding.Encode("x", &e); !errors.Is(err, schemas.ErrInvalidEvent) {
			t.Errorf("%s: Encode gave %v", name, err)
		}
		if name == "NotUTF8" || name == "Long" { // JSON replaces what is not UTF-8, and bounds nothing
			continue
		}
		if _, err := binding.MarshalStructured(&e); !errors.Is(err, schemas.ErrInvalidEvent) {
			t.Errorf("%s: MarshalStructured gave %v", name, err)
		}
	}
}

// anyText draws what people and attackers write: quotes, percent signs, control
// characters, every plane of Unicode.
func anyText(t *rapid.T, label string, least int) string {
	return rapid.StringOfN(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("\"\\% \t\r\n\x00\x7f€😀äÿ"))), least, 40, -1).Draw(t, label)
}

func anyTime(t *rapid.T, label string) time.Time {
	if !rapid.Bool().Draw(t, label+" set") {
		return time.Time{}
	}
	return time.Unix(rapid.Int64Range(-62135596799, 253402300799).Draw(t, label), rapid.Int64Range(0, 999_999_999).Draw(t, label+" ns")).UTC()
}

func anyEvent(t *rapid.T) schemas.Event {
	e := schemas.Event{
		ID: anyText(t, "id", 1), Source: anyText(t, "source", 1), Type: anyText(t, "type", 1), Subject: anyText(t, "subject", 0),
		Time: anyTime(t, "time"), DataContentType: anyText(t, "content type", 0), DataSchema: anyText(t, "schema", 0),
		PartitionKey: anyText(t, "key", 0), Profile: anyText(t, "profile", 0), CorrelationID: anyText(t, "correlation", 0),
		CausationID: anyText(t, "causation", 0), Attempt: rapid.IntRange(0, 1<<31-1).Draw(t, "attempt"), EffectID: anyText(t, "effect", 0),
		Expires: anyTime(t, "expires"), ReplyTo: anyText(t, "reply", 0), TraceParent: anyText(t, "trace", 0),
		Phase: anyText(t, "phase", 0), SnapshotSequence: rapid.Uint64().Draw(t, "snapshotseq"), PreviousSequence: rapid.Uint64().Draw(t, "prevseq"), Permit: anyText(t, "permit", 0),
	}
	if rapid.Bool().Draw(t, "mail") {
		e.Type, e.SessionID = schemas.TypeEmailReceived, schemas.SessionID("desk", anyText(t, "session", 0))
	}
	if e.SessionID == "" && rapid.Bool().Draw(t, "record") {
		e.Type = schemas.TypeRecord
		e.Chain = rapid.SampledFrom([]string{"", hash}).Draw(t, "chain")
		e.Trail = &schemas.Trail{
			Applied: rapid.Uint64Min(1).Draw(t, "applied"), Runs: rapid.Uint64Min(3).Draw(t, "runs"), Queued: rapid.Uint64Max(3).Draw(t, "queued"),
			Others: rapid.Uint64Max(3).Draw(t, "others"), Jump: rapid.Uint64Max(3).Draw(t, "jump"),
		}
	}
	if rapid.Bool().Draw(t, "claim") {
		e.Artifact = &schemas.Artifact{SHA256: hash, Size: rapid.Int64Range(0, 1<<62).Draw(t, "size"), MediaType: anyText(t, "media type", 0)}
	} else if data := rapid.SliceOf(rapid.Byte()).Draw(t, "data"); len(data) > 0 {
		e.Data = data
	}
	return e
}

func TestBinaryRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent(t)
		m, err := binding.Encode("x", &e)
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range m.Header {
			for _, c := range []byte(values[0]) {
				if c <= ' ' || c >= 0x7f {
					t.Fatalf("header %s holds byte %#x", name, c)
				}
			}
		}
		got, err := binding.Decode(m)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, e)
		}
	})
}

func TestStructuredRoundTrip(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]struct{ mediaType, data, want string }{
		"JSON":            {"application/json", "{\n \"a\": [1, 2]}", `{"a":[1,2]}`},
		"JSONWithCharset": {"application/json; charset=utf-8", `"ü"`, `"ü"`},
		"NotJSONAtAll":    {"application/json", `{"a":`, `{"a":`},
		"Text":            {"text/plain", "Grüße \"x\"\n\u2028", "Grüße \"x\"\n\u2028"},
		"Bytes":           {"application/octet-stream", "\x00\xff", "\x00\xff"},
		"OtherJSON":       {"application/problem+json", `{"a":1}`, `{"a":1}`},
		"None":            {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := fullEvent()
			e.DataContentType, e.Data = data.mediaType, []byte(data.data)
			body, err := binding.MarshalStructured(&e)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.ContainsAny(body, "\n\r") {
				t.Errorf("not one line: %s", body)
			}
			var read event.Event
			if err := read.UnmarshalJSON(body); err != nil || read.Validate() != nil {
				t.Errorf("the SDK refuses it: %v, %v", err, read.Validate())
			}
			got, err := binding.Decode(bus.Message{Header: bus.Header{"content-type": {"application/cloudevents+json"}}, Body: body})
			if err != nil || string(got.Data) != data.want {
				t.Fatalf("data %q, %v; want %q", got.Data, err, data.want)
			}
			got.Data, e.Data = nil, nil
			if !reflect.DeepEqual(got, e) {
				t.Errorf("got  %+v\nwant %+v", got, e)
			}
		})
	}
}

func TestStructuredKeepsTheClaim(t *testing.T) {
	t.Parallel()
	e := fullEvent()
	e.Data, e.Artifact = nil, &schemas.Artifact{SHA256: hash, Size: 1 << 40, MediaType: "text/plain"}
	body, err := binding.MarshalStructured(&e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := binding.Decode(bus.Message{Body: body}) // specversion in the body is enough
	if err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, e)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("", "", "", []byte(`{"message_id":"1","from":"a","type":"execution_request"}`))
	f.Add("ce-id", "%41", "ce-specversion", []byte(`x`))
	f.Add("Content-Type", "application/cloudevents+json", "", []byte(`{"specversion":"1.0","id":"1","source":"/s","type":"t","data_base64":"AA==","x":1}`))
	f.Add("Content-Type", "application/cloudevents", "", []byte(`{"data_base64":1,"specversion":"1.0","time":null,"data":{}}`))
	f.Add("ce-dataref", "podium-artifact:"+hash, "ce-time", []byte(nil))
	f.Fuzz(func(t *testing.T, name, value, other string, body []byte) {
		m := bus.Message{Header: bus.Header{name: {value}, other: {"1.0"}}, Body: body}
		if name == "ce-time" || strings.HasPrefix(name, "ce-") {
			for required, filler := range binary().Header {
				if _, ok := m.Header[required]; !ok {
					m.Header[required] = filler
				}
			}
		}
		e, err := binding.Decode(m)
		again, errAgain := binding.Decode(m)
		if !reflect.DeepEqual(e, again) || (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Fatalf("the same message gives %+v, %v and %+v, %v", e, err, again, errAgain)
		}
		if err != nil {
			if !isMalformed(err) {
				t.Fatalf("%v is no MalformedError", err)
			}
			return
		}
		encoded, err := binding.Encode("x", &e)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v\n%+v", err, e)
		}
		if back, err := binding.Decode(encoded); err != nil || !equalEvents(back, e) {
			t.Fatalf("got  %+v, %v\nwant %+v", back, err, e)
		}
	})
}

// equalEvents compares events; no data is the same as empty data.
func equalEvents(a, b schemas.Event) bool {
	same := bytes.Equal(a.Data, b.Data)
	a.Data, b.Data = nil, nil
	return same && reflect.DeepEqual(a, b)
}

func BenchmarkEncode(b *testing.B) {
	e := fullEvent()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := binding.Encode("podium.agent.echo.request", &e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	e := fullEvent()
	binary, err := binding.Encode("x", &e)
	if err != nil {
		b.Fatal(err)
	}
	structured, err := binding.MarshalStructured(&e)
	if err != nil {
		b.Fatal(err)
	}
	for name, m := range map[string]bus.Message{
		"Binary": binary, "Structured": {Body: structured},
		"Bare": {Body: []byte(`{"message_id":"7f1b","from":"a","to":"b","type":"execution_response","timestamp":"2026-05-01T14:00:00Z","in_reply_to":"q","payload":{"status":"completed","plan_id":"p"}}`)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := binding.Decode(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
