package cloudevents_test

import (
	"strings"
	"testing"

	"podium/bus/memory"
	"podium/ingest/cloudevents"
	"podium/schemas"
)

const (
	note = `{"text":"2 + 2"}`
	// whole says that the event is wrong in no attribute of its own.
	whole = "the event"
)

// event is an event in JSON; more are members beside those that are required.
func event(more ...string) string {
	return `{"specversion":"1.0","id":"1","source":"/tickets","type":"com.example.note"` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// TestConformanceTaken shows every form in which an event may come and the words
// that it is taken for (HTTP binding 1.0.2, JSON format 1.0.2).
func TestConformanceTaken(t *testing.T) {
	t.Parallel()
	const jsonType, textType = "application/json", "text/plain"
	for name, test := range map[string]struct {
		call call
		text string
		id   string // "1" unless it is said
	}{
		"binary":                     {call: binary(jsonType, note)},
		"binary, text":               {call: binary(textType, "2 + 2")},
		"binary, text with charset":  {call: binary(`text/plain; charset="UTF-8"`, "2 + 2")},
		"binary, a suffix":           {call: binary("application/vnd.example+json", note)},
		"binary, capitals in type":   {call: binary("Application/JSON; charset=utf-8", note)},
		"header in lower case":       {call: binary(jsonType, note, "ce-id", "1")},
		"all optional attributes":    {call: binary(jsonType, note, "Ce-Subject", "s", "Ce-Time", "2026-01-31T12:00:00.5+01:00", "Ce-Dataschema", "https://example.org/s", "Ce-Myext1", "x")},
		"percent-encoded":            {call: binary(jsonType, note, "Ce-Id", "Euro%20%E2%82%AC%20%F0%9F%98%80"), id: "Euro € 😀"},
		"percent-encoded once":       {call: binary(jsonType, note, "Ce-Id", "100%2525"), id: "100%25"},
		"lower-case digits":          {call: binary(jsonType, note, "Ce-Id", "%e2%82%ac"), id: "€"},
		"quoted":                     {call: binary(jsonType, note, "Ce-Id", `"a \"b\" c"`), id: `a "b" c`},
		"quoted and encoded":         {call: binary(jsonType, note, "Ce-Id", `"a%20b"`), id: "a b"},
		"unencoded UTF-8":            {call: binary(jsonType, note, "Ce-Id", "€"), id: "€"},
		"identity coding":            {call: binary(jsonType, note, "Content-Encoding", "identity")},
		"structured":                 {call: structured(event(`"data":` + note))},
		"structured, media type":     {call: structured(event(`"datacontenttype":"application/json"`, `"data":`+note))},
		"structured, base64":         {call: structured(event(`"datacontenttype":"application/json"`, `"data_base64":"eyJ0ZXh0IjoiMiArIDIifQ=="`))},
		"structured, text":           {call: structured(event(`"datacontenttype":"text/plain"`, `"data":"2 + 2"`))},
		"structured, text in base64": {call: structured(event(`"datacontenttype":"text/plain"`, `"data_base64":"MiArIDI="`))},
		"structured, extensions":     {call: structured(event(`"data":`+note, `"number":-7`, `"flag":true`, `"words":"a b"`, `"nothing":null`))},
		"structured, order":          {call: structured(`{"data":` + note + `,"type":"com.example.note","id":"1","source":"/tickets","specversion":"1.0"}`)},
		"structured, charset":        {call: post("application/cloudevents+json; charset=utf-8", event(`"data":`+note))},
		"structured, headers":        {call: post("application/cloudevents+json", event(`"data":`+note), "Ce-Id", "2", "Ce-Specversion", "0.3")},
		"two pointers":               {call: structured(event(`"data":{"title":" It fails ","lines":["a","b"],"ticket":{"id":7}}`, `"x":"y"`)).as("com.example.ticket.created"), text: "It fails\n\nb"},
		"a document":                 {call: structured(event(`"data":{"a":[1,2]}`)).as("com.example.document"), text: `{"a":[1,2]}`},
		"a number":                   {call: structured(event(`"data":42`)).as("com.example.document"), text: "42"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := memory.New(2)
			accepted := expect[cloudevents.Accepted](t, newAdapter(t, ledger), test.call, 202)
			events := inputs(t, ledger)
			if len(events) != 1 || events[0].ID != accepted.ID || events[0].Type != schemas.TypeChatReceived ||
				schemas.SessionID(events[0].Profile, events[0].PartitionKey) != accepted.Session {
				t.Fatalf("accepted %+v, events %+v", accepted, events)
			}
			if err := schemas.Validate("chat_received", events[0].Data); err != nil {
				t.Error(err)
			}
			message := read[schemas.ChatReceived](t, events[0].Data)
			want, id := test.text, test.id
			if want == "" {
				want = "2 + 2"
			}
			if id == "" {
				id = "1"
			}
			if message.Text != want || message.MessageID != id || message.Channel != "http/tickets" {
				t.Errorf("message %+v, want %q of %q", message, want, id)
			}
		})
	}
}

// as returns a structured event of another type.
func (c call) as(kind string) call {
	c.body = strings.Replace(c.body, "com.example.note", kind, 1)
	return c
}

// TestConformanceRefused shows what is refused, and that the attribute is named.
func TestConformanceRefused(t *testing.T) {
	t.Parallel()
	const jsonType = "application/json"
	for name, test := range map[string]struct {
		call      call
		status    int    // 400 unless it is said
		attribute string // that is named; none in a problem of the request
	}{
		"no specversion":              {call: binary(jsonType, note, "Ce-Specversion", ""), attribute: "specversion"},
		"specversion 0.3":             {call: binary(jsonType, note, "Ce-Specversion", "0.3"), attribute: "specversion"},
		"no attributes at all":        {call: post(jsonType, note), attribute: "specversion"},
		"no id":                       {call: binary(jsonType, note, "Ce-Id", ""), attribute: "id"},
		"blank id":                    {call: binary(jsonType, note, "Ce-Id", "%20"), attribute: "id"},
		"no source":                   {call: binary(jsonType, note, "Ce-Source", ""), attribute: "source"},
		"source is no URI reference":  {call: binary(jsonType, note, "Ce-Source", "http://[::1"), attribute: "source"},
		"no type":                     {call: binary(jsonType, note, "Ce-Type", ""), attribute: "type"},
		"a type nobody takes":         {call: binary(jsonType, note, "Ce-Type", "com.example.other"), attribute: "type"},
		"id twice":                    {call: post(jsonType, note, "Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Id", "2", "Ce-Source", "/", "Ce-Type", "com.example.note"), attribute: "id"},
		"id too long":                 {call: binary(jsonType, note, "Ce-Id", strings.Repeat("x", 257)), attribute: "id"},
		"encrypted":                   {call: binary(jsonType, note, "Ce-Keyid", "k"), attribute: "keyid"},
		"extension too long":          {call: binary(jsonType, note, "Ce-Ext", strings.Repeat("x", 1025)), attribute: "ext"},
		"overlong UTF-8":              {call: binary(jsonType, note, "Ce-Id", "%C0%AF"), attribute: "id"},
		"a surrogate":                 {call: binary(jsonType, note, "Ce-Id", "%ED%A0%80"), attribute: "id"},
		"half an escape":              {call: binary(jsonType, note, "Ce-Id", "a%2"), attribute: "id"},
		"no hexadecimal digits":       {call: binary(jsonType, note, "Ce-Id", "%zz"), attribute: "id"},
		"an open quote":               {call: binary(jsonType, note, "Ce-Id", `"a`), attribute: "id"},
		"a control character":         {call: binary(jsonType, note, "Ce-Id", "a%0Ab"), attribute: "id"},
		"a code point of no use":      {call: binary(jsonType, note, "Ce-Id", "%EF%BF%BF"), attribute: "id"},
		"time without a zone":         {call: binary(jsonType, note, "Ce-Time", "2026-01-31T12:00:00"), attribute: "time"},
		"dataschema not absolute":     {call: binary(jsonType, note, "Ce-Dataschema", "/s"), attribute: "dataschema"},
		"ce-datacontenttype":          {call: binary(jsonType, note, "Ce-Datacontenttype", jsonType), attribute: "datacontenttype"},
		"ce-data":                     {call: binary(jsonType, note, "Ce-Data", "x"), attribute: "data"},
		"a name with a dash":          {call: binary(jsonType, note, "Ce-My-Ext", "x"), attribute: "my-ext"},
		"no data":                     {call: binary(jsonType, ""), attribute: "data"},
		"data is not JSON":            {call: binary(jsonType, `{"text":`), attribute: "data"},
		"no words":                    {call: binary(jsonType, `{"texts":"x"}`), attribute: "data"},
		"blank words":                 {call: binary("text/plain", " \n"), attribute: "data"},
		"text is not UTF-8":           {call: binary("text/plain", "\xff"), attribute: "data"},
		"data without a type":         {call: binary("", note), status: 415, attribute: "datacontenttype"},
		"an image":                    {call: binary("image/png", "x"), status: 415, attribute: "datacontenttype"},
		"Latin-1":                     {call: binary("text/plain; charset=iso-8859-1", "x"), status: 415, attribute: "datacontenttype"},
		"Avro":                        {call: post("application/cloudevents+avro", "x"), status: 415},
		"no suffix":                   {call: post("application/cloudevents", event()), status: 415},
		"batch in Avro":               {call: post("application/cloudevents-batch+avro", "x"), status: 415},
		"structured in UTF-16":        {call: post("application/cloudevents+json; charset=utf-16", event()), status: 415},
		"two content types":           {call: post(jsonType, note, "Content-Type", "text/plain"), status: 415},
		"no media type":               {call: post(";", note), status: 415},
		"compressed":                  {call: binary(jsonType, note, "Content-Encoding", "gzip"), status: 415},
		"not JSON":                    {call: structured(`{"specversion"`), attribute: whole},
		"null":                        {call: structured(`null`), attribute: whole},
		"a list":                      {call: structured(`[]`), attribute: whole},
		"a name twice":                {call: structured(event(`"id":"2"`)), attribute: whole},
		"id is a number":              {call: structured(`{"specversion":"1.0","id":1,"source":"/","type":"com.example.note"}`), attribute: "id"},
		"time is a number":            {call: structured(event(`"time":1`)), attribute: "time"},
		"empty subject":               {call: structured(event(`"subject":""`)), attribute: "subject"},
		"extension is an object":      {call: structured(event(`"ext":{}`)), attribute: "ext"},
		"extension is a fraction":     {call: structured(event(`"ext":1.5`)), attribute: "ext"},
		"extension of 33 bits":        {call: structured(event(`"ext":4294967296`)), attribute: "ext"},
		"a name in capitals":          {call: structured(event(`"Ext":"x"`)), attribute: "Ext"},
		"data and data_base64":        {call: structured(event(`"data":1`, `"data_base64":"MQ=="`)), attribute: "data_base64"},
		"base64 of a number":          {call: structured(event(`"data_base64":1`)), attribute: "data_base64"},
		"not base64":                  {call: structured(event(`"datacontenttype":"text/plain"`, `"data_base64":"M"`)), attribute: "data_base64"},
		"text that is an object":      {call: structured(event(`"datacontenttype":"text/plain"`, `"data":{}`)), attribute: "data"},
		"no conversation":             {call: structured(event(`"data":{"title":"x"}`)).as("com.example.ticket.created"), attribute: "data"},
		"conversation is an object":   {call: structured(event(`"data":{"title":"x","ticket":{"id":{}}}`)).as("com.example.ticket.created"), attribute: "data"},
		"batch that is an event":      {call: batch(event(`"data":` + note)), attribute: whole},
		"batch of 101":                {call: batch("[" + strings.Repeat("{},", 100) + "{}]"), status: 413},
		"one byte too many":           {call: binary("text/plain", strings.Repeat("x", cloudevents.MaxBody+1)), status: 413},
		"no plan":                     {call: structured(event(`"data":{}`)).as(schemas.TypeExecutionRequest), attribute: "data"},
		"plan that is text":           {call: structured(event(`"datacontenttype":"text/plain"`, `"data":"x"`)).as(schemas.TypeExecutionRequest), status: 415, attribute: "datacontenttype"},
		"datacontenttype of nonsense": {call: structured(event(`"datacontenttype":"x y"`, `"data":"x"`)), attribute: "datacontenttype"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := memory.New(2)
			status := test.status
			if status == 0 {
				status = 400
			}
			problem := expect[cloudevents.Problem](t, newAdapter(t, ledger), test.call, status)
			if problem.Status != status || problem.Title == "" || problem.Detail == "" || !strings.HasPrefix(problem.Type, "urn:podium:problem:") {
				t.Errorf("problem %+v", problem)
			}
			switch {
			case test.attribute == "" && len(problem.Errors) == 0:
			case test.attribute == whole && len(problem.Errors) == 1 && problem.Errors[0].Attribute == "":
			case len(problem.Errors) != 1 || problem.Errors[0].Attribute != test.attribute || problem.Errors[0].Detail == "":
				t.Errorf("errors %+v, want one about %q", problem.Errors, test.attribute)
			}
			if events := inputs(t, ledger); len(events) > 0 {
				t.Errorf("it is on the ledger: %+v", events)
			}
		})
	}
}
