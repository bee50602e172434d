package chat_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/agents/chat"
	"podium/schemas"
)

// A double is a provider's API: it notes what it is asked, and answers as told.
type double struct {
	*httptest.Server
	mutex   sync.Mutex
	asked   []string // "METHOD path {body}"
	headers []http.Header
	answers []func(w http.ResponseWriter) // the last one goes on
}

func newDouble(t *testing.T, answers ...func(w http.ResponseWriter)) *double {
	t.Helper()
	d := &double{answers: answers}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		d.mutex.Lock()
		d.asked = append(d.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
		d.headers = append(d.headers, r.Header)
		answer := d.answers[0]
		if len(d.answers) > 1 {
			d.answers = d.answers[1:]
		}
		d.mutex.Unlock()
		answer(w)
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *double) calls() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.asked)
}

func says(body string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = io.WriteString(w, body) }
}

func fails(status int, body string, header ...string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if len(header) > 0 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func breaks(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// opener opens refs by their name.
type opener map[string]schemas.ChatRoute

var errSealed = errors.New("it does not open")

func (o opener) Open(channel, ref string, _ time.Time) (*schemas.ChatRoute, error) {
	route, known := o[channel+" "+ref]
	if !known {
		return nil, errSealed
	}
	return &route, nil
}

var now = time.Unix(1_790_000_000, 0)

func routes(d *double) opener {
	hook := ""
	if d != nil {
		hook = d.URL + "/hooks/commands/h1"
	}
	return opener{
		"slack thread":       {Place: "C1", Thread: "1.2", Message: "1.5", Received: now},
		"slack command":      {Place: "C1", User: "U1", Response: hook, Received: now},
		"slack old":          {Place: "C1", User: "U1", Response: hook, Received: now.Add(-31 * time.Minute)},
		"slack bare":         {Place: "C1", User: "U1", Received: now},
		"slack evil":         {Place: "C1", User: "U1", Response: "http://169.254.169.254/x", Received: now},
		"mattermost post":    {Place: "c1", Message: "p2", Received: now},
		"mattermost thread":  {Place: "c1", Thread: "p1", Message: "p2", Received: now},
		"mattermost command": {Place: "c1", Response: hook, Received: now},
		"mattermost old":     {Place: "c1", Response: hook, Received: now.Add(-31 * time.Minute)},
		"mattermost evil":    {Place: "c1", Response: "https://evil.example/hooks", Received: now},
		"telegram topic":     {Place: "-100123", Thread: "5", Message: "7", Received: now},
		"telegram chat":      {Place: "9", Message: "7", Received: now},
	}
}

func providerAgent(t *testing.T, d *double) *chat.Agent {
	t.Helper()
	return newAgent(t, chat.Config{
		Channels: map[string]chat.Channel{
			"slack":      {Provider: schemas.ProviderSlack, BotToken: "xoxb-hidden"},
			"mattermost": {Provider: schemas.ProviderMattermost, BotToken: "hidden", URL: d.URL},
			"telegram":   {Provider: schemas.ProviderTelegram, BotToken: "123:hidden"},
			"teams":      {Provider: schemas.ProviderTeams},
		},
		SlackAPI: d.URL + "/api", SlackHooks: d.URL, TelegramAPI: d.URL, Opener: routes(d), Now: func() time.Time { return now },
	})
}

func deliver(t *testing.T, agent *chat.Agent, channel, ref, text string) (schemas.Result, error) {
	t.Helper()
	body, err := schemas.Marshal(schemas.DeliveryArguments{Reply: schemas.Reply{Channel: channel, ReplyRef: ref}, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := agent.Handle(t.Context(), requestWith(string(body), "en"), ignore)
	return outcome.Result, err
}

// Every provider is asked in the form that it documents.
func TestAnswersInTheThread(t *testing.T) {
	t.Parallel()
	const root = `{"id":"p2","root_id":""}`
	for name, test := range map[string]struct {
		channel, ref, text string
		answers            []func(http.ResponseWriter)
		want               []string
		authorization      string
	}{
		"slack thread": {
			channel: "slack", ref: "thread", text: "a < b <!channel>", answers: []func(http.ResponseWriter){says(`{"ok":true,"channel":"C1","ts":"1.9"}`)},
			want:          []string{`POST /api/chat.postMessage {"channel":"C1","text":"a &lt; b &lt;!channel&gt;","thread_ts":"1.2","unfurl_links":false,"unfurl_media":false}`},
			authorization: "Bearer xoxb-hidden",
		},
		"slack command": {
			channel: "slack", ref: "command", text: "4", answers: []func(http.ResponseWriter){says("ok")},
			want: []string{`POST /hooks/commands/h1 {"response_type":"ephemeral","text":"4"}`},
		},
		"slack command, late": {
			channel: "slack", ref: "old", text: "4", answers: []func(http.ResponseWriter){says(`{"ok":true,"ts":"1.9"}`)},
			want:          []string{`POST /api/chat.postMessage {"channel":"U1","text":"4","unfurl_links":false,"unfurl_media":false}`},
			authorization: "Bearer xoxb-hidden",
		},
		"slack command without a URL": {
			channel: "slack", ref: "bare", text: "4", answers: []func(http.ResponseWriter){says(`{"ok":true,"ts":"1.9"}`)},
			want:          []string{`POST /api/chat.postMessage {"channel":"U1","text":"4","unfurl_links":false,"unfurl_media":false}`},
			authorization: "Bearer xoxb-hidden",
		},
		"mattermost post": {
			channel: "mattermost", ref: "post", text: "hi @all", answers: []func(http.ResponseWriter){says(root), fails(201, `{"id":"p9"}`)},
			want: []string{
				`GET /api/v4/posts/p2`,
				`POST /api/v4/posts {"channel_id":"c1","root_id":"p2","message":"hi @` + "\u200b" + `all","pending_post_id":"` + effect + `:0"}`,
			},
			authorization: "Bearer hidden",
		},
		"mattermost answer to an answer": {
			channel: "mattermost", ref: "post", text: "4", answers: []func(http.ResponseWriter){says(`{"id":"p2","root_id":"p0"}`), fails(201, `{"id":"p9"}`)},
			want: []string{
				`GET /api/v4/posts/p2`, `POST /api/v4/posts {"channel_id":"c1","root_id":"p0","message":"4","pending_post_id":"` + effect + `:0"}`,
			},
			authorization: "Bearer hidden",
		},
		"mattermost command": {
			channel: "mattermost", ref: "command", text: "4", answers: []func(http.ResponseWriter){says("")},
			want: []string{`POST /hooks/commands/h1 {"response_type":"ephemeral","text":"4"}`},
		},
		"telegram topic": {
			channel: "telegram", ref: "topic", text: "a <b>", answers: []func(http.ResponseWriter){says(`{"ok":true,"result":{"message_id":8}}`)},
			want: []string{`POST /bot123:hidden/sendMessage {"chat_id":"-100123","message_thread_id":5,"text":"a <b>",` +
				`"reply_parameters":{"message_id":7,"allow_sending_without_reply":true},"link_preview_options":{"is_disabled":true}}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, test.answers...)
			result, err := deliver(t, providerAgent(t, d), test.channel, test.ref, test.text)
			if err != nil || string(result.Data) != `{"reply_id":"`+effect+`","delivered":"push"}` {
				t.Fatalf("%s (%v)", result.Data, err)
			}
			if !slices.Equal(d.calls(), test.want) {
				t.Errorf("asked\n%s\nwant\n%s", strings.Join(d.calls(), "\n"), strings.Join(test.want, "\n"))
			}
			if got := d.headers[len(d.headers)-1].Get("Authorization"); got != test.authorization {
				t.Errorf("authorization %q, want %q", got, test.authorization)
			}
		})
	}
}

// What a provider says decides whether another attempt helps and whether anybody
// knows what has happened.
func TestProvidersRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		channel, ref       string
		answer             func(http.ResponseWriter)
		permanent, unknown bool
	}{
		"slack not in channel":     {channel: "slack", ref: "thread", answer: says(`{"ok":false,"error":"not_in_channel"}`), permanent: true},
		"slack revoked":            {channel: "slack", ref: "thread", answer: says(`{"ok":false,"error":"token_revoked"}`), permanent: true},
		"slack in prose":           {channel: "slack", ref: "thread", answer: says(`{"ok":false,"error":"private words are refused"}`), permanent: true},
		"slack rate limit":         {channel: "slack", ref: "thread", answer: fails(429, `{"ok":false,"error":"ratelimited"}`, "Retry-After", "30")},
		"slack limit in words":     {channel: "slack", ref: "thread", answer: says(`{"ok":false,"error":"ratelimited"}`)},
		"slack internal":           {channel: "slack", ref: "thread", answer: says(`{"ok":false,"error":"internal_error"}`), unknown: true},
		"slack away":               {channel: "slack", ref: "thread", answer: fails(503, "")},
		"slack gateway":            {channel: "slack", ref: "thread", answer: fails(504, ""), unknown: true},
		"slack broken off":         {channel: "slack", ref: "thread", answer: breaks, unknown: true},
		"slack half an answer":     {channel: "slack", ref: "thread", answer: says(`{"ok"`), unknown: true},
		"slack another host":       {channel: "slack", ref: "evil", answer: says("ok"), permanent: true},
		"slack used up":            {channel: "slack", ref: "command", answer: fails(404, "used_url"), permanent: true},
		"redirect":                 {channel: "slack", ref: "command", answer: fails(302, "", "Location", "http://169.254.169.254/")},
		"mattermost forbidden":     {channel: "mattermost", ref: "thread", answer: fails(403, `{}`), permanent: true},
		"mattermost broken off":    {channel: "mattermost", ref: "thread", answer: breaks, unknown: true},
		"mattermost another host":  {channel: "mattermost", ref: "evil", answer: says("ok"), permanent: true},
		"mattermost too late":      {channel: "mattermost", ref: "old", answer: says("ok"), permanent: true},
		"telegram blocked":         {channel: "telegram", ref: "chat", answer: fails(403, `{"ok":false,"error_code":403,"description":"Forbidden"}`), permanent: true},
		"telegram too many":        {channel: "telegram", ref: "chat", answer: fails(429, `{"ok":false,"error_code":429,"parameters":{"retry_after":30}}`)},
		"telegram broken off":      {channel: "telegram", ref: "chat", answer: breaks, unknown: true},
		"a reply_ref of elsewhere": {channel: "telegram", ref: "thread", answer: says("{}"), permanent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, test.answer)
			_, err := deliver(t, providerAgent(t, d), test.channel, test.ref, "private words")
			failure := asFailure(t, err)
			if failure.Permanent != test.permanent || failure.Unknown != test.unknown {
				t.Errorf("permanent %v, unknown %v: %v", failure.Permanent, failure.Unknown, failure)
			}
			if later := failure.Category == schemas.CategoryResource; later != (!test.permanent && !test.unknown) {
				t.Errorf("category %q", failure.Category)
			}
			if told := failure.Error() + failure.Message; strings.Contains(told, "hidden") || strings.Contains(told, "private") || strings.Contains(told, d.URL) {
				t.Errorf("it says too much: %s", told)
			}
			if test.ref == "evil" && len(d.calls()) > 0 || strings.Contains(strings.Join(d.calls(), ""), "169.254") {
				t.Errorf("called %v", d.calls())
			}
		})
	}
}

// Mattermost knows a repeated post by its pending id: a call that broke is
// repeated at once, and is no longer in doubt.
func TestMattermostSettlesADoubt(t *testing.T) {
	t.Parallel()
	d := newDouble(t, breaks, fails(201, `{"id":"p9"}`))
	if _, err := deliver(t, providerAgent(t, d), "mattermost", "thread", "4"); err != nil {
		t.Fatal(err)
	}
	if calls := d.calls(); len(calls) != 2 || calls[0] != calls[1] {
		t.Errorf("called %v", calls)
	}
}

// The next attempt goes on where the last one stopped.
func TestPiecesAreNotSentTwice(t *testing.T) {
	t.Parallel()
	d := newDouble(t, says(`{"ok":true,"ts":"1"}`), says(`{"ok":false,"error":"service_unavailable"}`), says(`{"ok":true,"ts":"2"}`))
	agent := providerAgent(t, d)
	long := strings.Repeat("a", 4000) + strings.Repeat("b", 4000) + "c"
	if _, err := deliver(t, agent, "slack", "thread", long); asFailure(t, err).Permanent {
		t.Fatal("it is given up")
	}
	if _, err := deliver(t, agent, "slack", "thread", long); err != nil {
		t.Fatal(err)
	}
	var starts []string
	for _, call := range d.calls() {
		_, text, _ := strings.Cut(call, `"text":"`)
		starts = append(starts, text[:1])
	}
	if got := strings.Join(starts, ""); got != "abbc" {
		t.Errorf("pieces %s", got)
	}
}

// A very long answer ends in a sentence, not in a flood.
func TestFloodIsCut(t *testing.T) {
	t.Parallel()
	d := newDouble(t, says(`{"ok":true,"result":{"message_id":8}}`))
	if _, err := deliver(t, providerAgent(t, d), "telegram", "chat", strings.Repeat("x", 100_000)); err != nil {
		t.Fatal(err)
	}
	calls := d.calls()
	if len(calls) != 11 || !strings.Contains(calls[10], "its end is missing here") {
		t.Errorf("%d calls, the last is %s", len(calls), calls[len(calls)-1])
	}
}

// A provider that asks for a pause gets one: a short one within the attempt, a
// long one by failing without a call.
func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	for wait, called := range map[string]int{"5": 2, "60": 1} {
		t.Run(wait, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				agent := newAgent(t, chat.Config{
					Channels: map[string]chat.Channel{"slack": {Provider: schemas.ProviderSlack, BotToken: "x"}},
					Opener:   routes(nil), Timeout: time.Minute,
					Transport: transport(func(*http.Request) (*http.Response, error) {
						calls++
						recorder := httptest.NewRecorder()
						if calls == 1 {
							recorder.Header().Set("Retry-After", wait)
							recorder.WriteHeader(http.StatusTooManyRequests)
						} else {
							_, _ = io.WriteString(recorder, `{"ok":true,"ts":"1"}`)
						}
						return recorder.Result(), nil
					}),
				})
				if _, err := deliver(t, agent, "slack", "thread", "4"); asFailure(t, err).Permanent {
					t.Fatal("it is given up")
				}
				before := time.Now()
				_, err := deliver(t, agent, "slack", "thread", "4")
				if calls != called || (err == nil) != (called == 2) {
					t.Errorf("%d calls: %v", calls, err)
				}
				if took := time.Since(before); took != time.Duration(5*(called-1))*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// A note is posted once, changes, and becomes the answer; after that there are no
// more notes.
func TestNoteBecomesTheAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		channel, ref, answer string
		want                 []string
	}{
		"slack": {"slack", "thread", `{"ok":true,"ts":"1.9"}`, []string{
			`POST /api/chat.postMessage {"channel":"C1","text":"one","thread_ts":"1.2","unfurl_links":false,"unfurl_media":false}`,
			`POST /api/chat.update {"channel":"C1","text":"two","ts":"1.9","unfurl_links":false,"unfurl_media":false}`,
			`POST /api/chat.update {"channel":"C1","text":"4","ts":"1.9","unfurl_links":false,"unfurl_media":false}`,
		}},
		"mattermost": {"mattermost", "thread", `{"id":"p9"}`, []string{
			`POST /api/v4/posts {"channel_id":"c1","root_id":"p1","message":"one","pending_post_id":"note:thread:0"}`,
			`PUT /api/v4/posts/p9/patch {"message":"two"}`,
			`PUT /api/v4/posts/p9/patch {"message":"4"}`,
		}},
		"telegram": {"telegram", "chat", `{"ok":true,"result":{"message_id":8}}`, []string{
			`POST /bot123:hidden/sendMessage {"chat_id":"9","text":"one","reply_parameters":{"message_id":7,"allow_sending_without_reply":true},"link_preview_options":{"is_disabled":true}}`,
			`POST /bot123:hidden/editMessageText {"chat_id":"9","message_id":8,"text":"two","link_preview_options":{"is_disabled":true}}`,
			`POST /bot123:hidden/editMessageText {"chat_id":"9","message_id":8,"text":"4","link_preview_options":{"is_disabled":true}}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, says(test.answer))
			agent := providerAgent(t, d)
			for _, note := range []string{"one", "two"} {
				if err := agent.Note(t.Context(), test.channel, test.ref, 0, note); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := deliver(t, agent, test.channel, test.ref, "4"); err != nil {
				t.Fatal(err)
			}
			if err := agent.Note(t.Context(), test.channel, test.ref, 0, "late"); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(d.calls(), test.want) {
				t.Errorf("asked\n%s\nwant\n%s", strings.Join(d.calls(), "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// A question takes the place of the note, and no late line of the time before stands below it. Behind it
// notes begin anew, and become the next question or the answer; each has an effect of its own, and goes out
// whole though the one before broke off.
func TestQuestionsAndNotes(t *testing.T) {
	t.Parallel()
	const post, patch = "POST /api/v4/posts ", "PUT /api/v4/posts/"
	d := newDouble(t, says(`{"id":"p1"}`), says(`{}`), says(`{"id":"p2"}`), says(`{}`), says(`{"id":"p3"}`), says(`{"id":"p4"}`), says(`{}`))
	agent := providerAgent(t, d)
	for _, step := range []struct {
		note      string
		questions int
		text      string
		inquiry   int
		effect    string
		want      string // the call; none when empty
	}{
		{note: "working", want: post + `{"channel_id":"c1","root_id":"p1","message":"working","pending_post_id":"note:thread:0"}`},
		{text: "Where to?", inquiry: 1, effect: "q1", want: patch + `p1/patch {"message":"Where to?"}`},
		{note: "working, late"},
		{note: "Waits for your answer.", questions: 0},
		{note: "working again", questions: 1, want: post + `{"channel_id":"c1","root_id":"p1","message":"working again","pending_post_id":"note:thread.1:0"}`},
		{text: "When?", inquiry: 2, effect: "q2", want: patch + `p2/patch {"message":"When?"}`},
		{text: "Again: when?", inquiry: 2, effect: "q2r", want: post + `{"channel_id":"c1","root_id":"p1","message":"Again: when?","pending_post_id":"q2r:0"}`},
		{note: "late", questions: 1},
		{note: "nearly", questions: 2, want: post + `{"channel_id":"c1","root_id":"p1","message":"nearly","pending_post_id":"note:thread.2:0"}`},
		{text: "4", effect: "a", want: patch + `p4/patch {"message":"4"}`},
		{note: "late", questions: 2},
		{note: "late", questions: 3},
	} {
		before := len(d.calls())
		if step.note != "" {
			if err := agent.Note(t.Context(), "mattermost", "thread", step.questions, step.note); err != nil {
				t.Fatal(err)
			}
		} else {
			body, err := schemas.Marshal(schemas.DeliveryArguments{
				Reply: schemas.Reply{Channel: "mattermost", ReplyRef: "thread"}, Text: step.text, Inquiry: step.inquiry,
			})
			if err != nil {
				t.Fatal(err)
			}
			request := requestWith(string(body), "en")
			request.EffectID = step.effect
			if _, err = agent.Handle(t.Context(), request, ignore); err != nil {
				t.Fatal(err)
			}
		}
		if called := strings.Join(d.calls()[before:], "\n"); called != step.want {
			t.Errorf("%+v\ncalls %s", step, called)
		}
	}
}

// A question of two messages that breaks off behind the first leaves nothing to the answer, which goes out from its beginning.
func TestAnswerBehindAQuestionThatBrokeOff(t *testing.T) {
	t.Parallel()
	ok := says(`{"ok":true,"result":{"message_id":8}}`)
	d := newDouble(t, ok, fails(403, `{"ok":false,"error_code":403,"description":"Forbidden"}`), ok, ok)
	agent := providerAgent(t, d)
	long := strings.Repeat("a", 4000) + " " + strings.Repeat("b", 4000)
	request := requestWith(`{"channel":"telegram","reply_ref":"chat","inquiry":1,"text":"`+long+`"}`, "en")
	request.EffectID = "q1"
	if _, err := agent.Handle(t.Context(), request, ignore); err == nil {
		t.Fatal("the second message has not broken off")
	}
	if _, err := deliver(t, agent, "telegram", "chat", long); err != nil {
		t.Fatal(err)
	}
	calls := d.calls()
	if len(calls) != 4 || !strings.Contains(calls[2], `"text":"aaa`) || !strings.Contains(calls[3], `"text":"bbb`) {
		t.Errorf("%d calls: %.200q", len(calls), calls)
	}
}

// An answer whose note was deleted is posted; one whose edit broke may be edited
// again, and nothing is in doubt.
func TestNoteInTrouble(t *testing.T) {
	t.Parallel()
	ok := says(`{"ok":true,"ts":"1.9"}`)
	for name, test := range map[string]struct {
		edit func(http.ResponseWriter)
		want []string
	}{
		"deleted": {says(`{"ok":false,"error":"message_not_found"}`), []string{"postMessage", "update", "postMessage"}},
		"broken":  {breaks, []string{"postMessage", "update", "update"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, ok, test.edit, ok)
			agent := providerAgent(t, d)
			if err := agent.Note(t.Context(), "slack", "thread", 0, "one"); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err := deliver(t, agent, "slack", "thread", "4")
				if err == nil {
					break
				}
				if failure := asFailure(t, err); failure.Unknown || failure.Permanent {
					t.Errorf("%+v", failure)
				}
			}
			for i, call := range d.calls() {
				if !strings.Contains(call, "chat."+test.want[i]+" ") {
					t.Errorf("call %d is %s", i, call)
				}
			}
			if len(d.calls()) != len(test.want) {
				t.Errorf("%d calls", len(d.calls()))
			}
		})
	}
}

// Telegram refuses an edit that changes nothing: the attempt before has made it.
func TestRepeatedEditIsDone(t *testing.T) {
	t.Parallel()
	ok := says(`{"ok":true,"result":{"message_id":8}}`)
	same := fails(400, `{"ok":false,"error_code":400,"description":"Bad Request: message is not modified: specified new message content is the same"}`)
	d := newDouble(t, ok, breaks, same, ok)
	agent := providerAgent(t, d)
	if err := agent.Note(t.Context(), "telegram", "chat", 0, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := deliver(t, agent, "telegram", "chat", "4"); asFailure(t, err).Unknown {
		t.Error("an edit is in doubt")
	}
	if _, err := deliver(t, agent, "telegram", "chat", "4"); err != nil || len(d.calls()) != 3 {
		t.Errorf("%d calls: %v", len(d.calls()), err)
	}
}

// Nobody is called without a permit, nor for Teams, nor without a reply_ref.
func TestProvidersAskForAPermit(t *testing.T) {
	t.Parallel()
	d := newDouble(t, says(`{"ok":true,"ts":"1"}`))
	agent := providerAgent(t, d)
	given := requestWith(`{"channel":"slack","reply_ref":"thread","text":"4"}`, "en")
	if _, err := agent.Handle(t.Context(), given.WithPermit(func(context.Context) error { return errRefused }), ignore); !errors.Is(err, errRefused) {
		t.Errorf("%v", err)
	}
	for i, arguments := range []string{`{"channel":"teams","reply_ref":"thread","text":"4"}`, `{"channel":"slack","text":"4"}`} {
		request := requestWith(arguments, "en")
		result, err := agent.Handle(t.Context(), request.WithPermit(func(context.Context) error { return errRefused }), ignore)
		if err != nil || !strings.Contains(string(result.Data), `"delivered":"pull"`) {
			t.Errorf("%s: %s (%v)", strconv.Itoa(i), result.Data, err)
		}
	}
	if calls := d.calls(); len(calls) != 0 {
		t.Errorf("called %v", calls)
	}
}

func TestProviderConfigErrors(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]chat.Channel{
		"slack":      {Provider: schemas.ProviderSlack},
		"telegram":   {Provider: schemas.ProviderTelegram},
		"mattermost": {Provider: schemas.ProviderMattermost, URL: "mattermost.example.org"},
		"discord":    {Provider: "discord"},
	} {
		if _, err := chat.New(chat.Config{Channels: map[string]chat.Channel{name: channel}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
