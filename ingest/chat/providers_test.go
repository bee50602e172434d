package chat_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/schemas"
)

const (
	slackSecret    = "8f742231b10e8888abcd99yyyzzz85a5"
	formType       = "application/x-www-form-urlencoded"
	telegramSecret = "0123456789abcdef_-"
	teamsSecret    = "HEprP2GEZNoCBqAc6GTY0gzYkRJ+EPwzoMqVfhXPEZc="
)

// everyProvider configures one channel of each.
func everyProvider(c *chat.Config) {
	c.Channels["slack"] = chat.Channel{Provider: schemas.ProviderSlack, Profile: profile, Secrets: []string{slackSecret}, Bot: true, Links: true}
	c.Channels["mattermost"] = chat.Channel{Provider: schemas.ProviderMattermost, Profile: profile, Secrets: []string{token}, Bot: true, Links: true, OwnUser: "podium"}
	c.Channels["closed"] = chat.Channel{Provider: schemas.ProviderMattermost, Profile: profile, Secrets: []string{token}}
	c.Channels["telegram"] = chat.Channel{Provider: schemas.ProviderTelegram, Profile: profile, Secrets: []string{telegramSecret}, Bot: true}
	c.Channels["teams"] = chat.Channel{Provider: schemas.ProviderTeams, Profile: profile, Secrets: []string{teamsSecret}, Language: "de"}
	c.Sealer = openSeal{}
	c.Runs.BaseURL = "https://podium.example.org"
}

// openSeal seals nothing, so that a test can look inside.
type openSeal struct{}

func (openSeal) Seal(channel string, route *schemas.ChatRoute, expires time.Time) (string, error) {
	body, err := schemas.Marshal(route)
	return channel + "|" + strconv.FormatInt(expires.Unix(), 10) + "|" + string(body), err
}

func mac(key []byte, parts ...string) []byte {
	made := hmac.New(sha256.New, key)
	made.Write([]byte(strings.Join(parts, "")))
	return made.Sum(nil)
}

func slackPost(body string, header ...string) call {
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	signature := "v0=" + hex.EncodeToString(mac([]byte(slackSecret), "v0:", timestamp, ":", body))
	return post("slack", body, "Authorization", "", "X-Slack-Request-Timestamp", timestamp, "X-Slack-Signature", signature).with(header...)
}

func slackEvent(kind, id, ts, text string) string {
	return `{"token":"z","team_id":"T1","api_app_id":"A1","event":{"type":"` + kind + `","user":"U1","text":"` + text + `","ts":"` + ts +
		`","channel":"C1"},"type":"event_callback","event_id":"` + id + `","authorizations":[{"user_id":"UBOT"}]}`
}

func mattermostPost(channel, form string) call {
	return post(channel, "token="+token+"&"+form, "Authorization", "", "Content-Type", formType)
}

func telegramPost(body string) call {
	return post("telegram", body, "Authorization", "", "X-Telegram-Bot-Api-Secret-Token", telegramSecret)
}

func telegramUpdate(id int, text string) string {
	return `{"update_id":` + strconv.Itoa(id) + `,"message":{"message_id":7,"from":{"id":9,"is_bot":false,"first_name":"Ann"},"chat":{"id":9},"text":"` + text + `"}}`
}

func teamsPost(t *testing.T, body string) call {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(teamsSecret)
	if err != nil {
		t.Fatal(err)
	}
	return post("teams", body, "Authorization", "HMAC "+base64.StdEncoding.EncodeToString(mac(key, body)))
}

func teamsActivity(id, text string) string {
	return `{"type":"message","id":"` + id + `","from":{"id":"29:x","name":"Tim"},"conversation":{"id":"19:c;messageid=1"},"text":"<at>Podium</at> ` + text + `"}`
}

// everyMessage is one message of each provider, in the way that it repeats.
func everyMessage(t *testing.T) map[string]call {
	t.Helper()
	return map[string]call{
		"web":        post("web", `{"text":"2+2"}`, "Webhook-Id", "m1"),
		"slack":      slackPost(slackEvent("message", "Ev1", "1.2", "2+2")),
		"mattermost": mattermostPost("mattermost", "channel_id=c1&user_id=u1&post_id=p1&text=2%2B2"),
		"telegram":   telegramPost(telegramUpdate(1, "2+2")),
		"teams":      teamsPost(t, teamsActivity("a1", "2+2")),
	}
}

// A provider that is impatient repeats: four times the same is one event, also
// when the four come at once.
func TestRetryStorm_X02(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(2)
		adapter := newAdapter(t, ledger, everyProvider)
		for name, message := range everyMessage(t) {
			var storm sync.WaitGroup
			for i := range 4 {
				storm.Go(func() {
					again := message
					if name == "slack" && i > 0 {
						again = message.with("X-Slack-Retry-Num", strconv.Itoa(i), "X-Slack-Retry-Reason", "http_timeout")
					}
					if recorder := again.do(t, adapter); recorder.Code >= 300 {
						t.Errorf("%s: status %d: %s", name, recorder.Code, recorder.Body)
					}
				})
			}
			storm.Wait()
		}
		ids := map[string]int{}
		for _, event := range inputs(t, ledger) {
			ids[event.ID]++
		}
		want := []string{"chat:mattermost:p1", "chat:slack:T1/C1/1.2", "chat:teams:a1", "chat:telegram:1", "chat:web:m1"}
		for _, id := range want {
			if ids[id] != 1 {
				t.Errorf("%s is there %d times", id, ids[id])
			}
		}
		if len(ids) != len(want) {
			t.Errorf("events %v", ids)
		}
		for _, tally := range adapter.Tallies() {
			if everyMessage(t)[tally.Channel].path != "" && (tally.Accepted != 1 || tally.Repeated != 3) {
				t.Errorf("%+v", tally)
			}
		}
	})
}

// One message to a Slack app that listens to both kinds of event comes twice,
// under two event ids, and is one.
func TestMentionAndMessageAreOne_X02(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, everyProvider)
	for _, body := range []string{slackEvent("message", "Ev1", "1.2", "<@UBOT> hi"), slackEvent("app_mention", "Ev2", "1.2", "<@UBOT> hi")} {
		if recorder := slackPost(body).do(t, adapter); recorder.Code != http.StatusOK || recorder.Body.String() != "{}" {
			t.Errorf("status %d: %s", recorder.Code, recorder.Body)
		}
	}
	if events := inputs(t, ledger); len(events) != 1 || events[0].PartitionKey != "slack/T1/slack/C1%2F1.2" {
		t.Errorf("%+v", events)
	}
}

// Nothing is taken from somebody who cannot prove who it is, and the refusal does
// not say what was wrong.
func TestForgedRequests(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, everyProvider)
	old := strconv.FormatInt(time.Now().Add(-6*time.Minute).Unix(), 10)
	body := slackEvent("message", "Ev1", "1.2", "hi")
	other := slackPost(slackEvent("message", "Ev1", "1.2", "ho"))
	other.body = body
	for name, forged := range map[string]call{
		"slack unsigned":       post("slack", body, "Authorization", ""),
		"slack bearer":         post("slack", body, "Authorization", "Bearer "+slackSecret),
		"slack, another body":  other,
		"slack, six minutes":   slackPost(body, "X-Slack-Request-Timestamp", old, "X-Slack-Signature", "v0="+hex.EncodeToString(mac([]byte(slackSecret), "v0:", old, ":", body))),
		"slack challenge":      post("slack", `{"type":"url_verification","challenge":"x"}`, "Authorization", ""),
		"mattermost no token":  post("mattermost", "channel_id=c&post_id=p&text=x", "Content-Type", formType, "Authorization", ""),
		"mattermost bearer":    post("mattermost", "channel_id=c&post_id=p&text=x", "Content-Type", formType),
		"mattermost, garbage":  post("mattermost", "{", "Authorization", ""),
		"telegram, no secret":  post("telegram", telegramUpdate(1, "x"), "Authorization", ""),
		"telegram, a prefix":   telegramPost(telegramUpdate(1, "x")).with("X-Telegram-Bot-Api-Secret-Token", telegramSecret[:17]),
		"teams, another body":  teamsPost(t, teamsActivity("a1", "x")).withBody(teamsActivity("a1", "y")),
		"teams, an old moment": teamsPost(t, `{"type":"message","id":"1","timestamp":"2017-02-01T21:10:07.437Z","from":{"id":"x"},"conversation":{"id":"c"},"text":"x"}`),
	} {
		problem, _ := expect[chat.Problem](t, adapter, forged, http.StatusUnauthorized)
		if problem.Type != "urn:podium:problem:unauthentic" {
			t.Errorf("%s: %+v", name, problem)
		}
	}
	if events := inputs(t, ledger); len(events) != 0 {
		t.Errorf("%d events", len(events))
	}
}

func (c call) withBody(body string) call {
	c.body = body
	return c
}

// Before the ledger has it, no provider reads that it has been taken; afterwards
// nothing is lost and nothing is twice.
func TestLedgerDown_X02(t *testing.T) {
	t.Parallel()
	for name := range everyMessage(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				message := everyMessage(t)[name]
				core := &faulty{Ledger: memory.New(1), err: &bus.TemporaryError{Op: "publish", Err: errors.New("away")}}
				adapter := newAdapter(t, core, everyProvider)
				for range 3 {
					recorder := message.do(t, adapter)
					if recorder.Code != http.StatusServiceUnavailable || recorder.Header().Get("Retry-After") == "" {
						t.Errorf("status %d, headers %v", recorder.Code, recorder.Header())
					}
				}
				core.err = nil
				for range 2 {
					if recorder := message.do(t, adapter); recorder.Code >= 300 {
						t.Errorf("status %d: %s", recorder.Code, recorder.Body)
					}
				}
				if events := inputs(t, core); len(events) != 1 {
					t.Errorf("%d events", len(events))
				}
			})
		})
	}
}

// A bot's words are acknowledged, so that they are not repeated, and counted.
func TestBotsAreIgnored(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, everyProvider)
	for _, message := range []call{
		slackPost(`{"team_id":"T1","event":{"type":"message","bot_id":"B1","text":"x","ts":"1.2","channel":"C1"},"type":"event_callback"}`),
		mattermostPost("mattermost", "channel_id=c&user_id=u&user_name=podium&post_id=p&text=x"),
		telegramPost(`{"update_id":1,"message":{"message_id":2,"from":{"id":3,"is_bot":true},"chat":{"id":4},"text":"x"}}`),
		teamsPost(t, `{"type":"message","id":"1","from":{"id":"28:bot"},"conversation":{"id":"c"},"text":"x"}`),
	} {
		if recorder := message.do(t, adapter); recorder.Code != http.StatusOK {
			t.Errorf("%s: status %d", message.path, recorder.Code)
		}
	}
	if events := inputs(t, ledger); len(events) != 0 {
		t.Errorf("%d events", len(events))
	}
	ignored := map[string]uint64{}
	for _, tally := range adapter.Tallies() {
		ignored[tally.Channel] = tally.Ignored
	}
	for _, name := range []string{"slack", "mattermost", "telegram", "teams"} {
		if ignored[name] != 1 {
			t.Errorf("%s: %d are counted", name, ignored[name])
		}
	}
}

// What an authentic provider sends and nobody can read is kept with its reason,
// once, and acknowledged: Telegram would repeat it for ever.
func TestUnreadableIsQuarantined_X06(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, everyProvider)
	for range 3 {
		if recorder := telegramPost(`{"update_id":"one"}`).do(t, adapter); recorder.Code != http.StatusOK {
			t.Fatalf("status %d: %s", recorder.Code, recorder.Body)
		}
	}
	if recorder := mattermostPost("mattermost", "text=x").do(t, adapter); recorder.Code != http.StatusOK {
		t.Fatalf("status %d: %s", recorder.Code, recorder.Body)
	}
	var kept []schemas.Quarantined
	for message, err := range ledger.Scan(t.Context(), bus.ShardStream(0), 1, bus.QuarantineSubject(schemas.QuarantineMalformed, 0)) {
		if err != nil {
			t.Fatal(err)
		}
		event, err := binding.Decode(message)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, read[schemas.Quarantined](t, event.Data))
	}
	if len(kept) != 2 || string(kept[0].Body) != `{"update_id":"one"}` || kept[0].Detail == "" || kept[0].Reason != schemas.QuarantineMalformed {
		t.Fatalf("%+v", kept)
	}
	if len(kept[0].Headers) != 1 || kept[0].Headers["Content-Type"] == nil || strings.Contains(string(kept[1].Body), token) {
		t.Errorf("secrets are kept: %v %s", kept[0].Headers, kept[1].Body)
	}
}

// What a channel was set up wrongly for is told to its sender, whoever it is, and
// what is too large is not looked at.
func TestWrongTypesAndSizes(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, everyProvider)
	for _, message := range []call{
		slackPost("x", "Content-Type", "text/plain"), slackPost(slackEvent("message", "Ev1", "1.2", "x"), "Content-Encoding", "gzip"),
		mattermostPost("mattermost", "channel_id=c&post_id=p&text=x").with("Content-Type", "text/plain", "Authorization", "Token "+token),
		telegramPost(telegramUpdate(1, "x")).with("Content-Type", formType), teamsPost(t, teamsActivity("a", "x")).with("Content-Type", ""),
	} {
		if problem, _ := expect[chat.Problem](t, adapter, message, http.StatusUnsupportedMediaType); problem.Type != "urn:podium:problem:media-type" {
			t.Errorf("%+v", problem)
		}
	}
	large := strings.Repeat("x", chat.MaxBody)
	for _, message := range []call{
		slackPost(slackEvent("message", "Ev1", "1.2", large)), mattermostPost("mattermost", "channel_id=c&post_id=p&text="+large),
		telegramPost(telegramUpdate(1, large)), teamsPost(t, teamsActivity("a", large)),
	} {
		expect[chat.Problem](t, adapter, message, http.StatusRequestEntityTooLarge)
	}
	if events := inputs(t, ledger); len(events) != 0 {
		t.Errorf("%d events", len(events))
	}
}

// One bad message of a list takes no good one along, and is named.
func TestBatchWithOneBadMessage_X02(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	list := post("web", `[{"text":"a","message_id":"1"},{"text":7},{"text":"c"}]`, "Webhook-Id", "list")
	for range 2 {
		batch, _ := expect[chat.Batch](t, adapter, list, http.StatusAccepted)
		if len(batch.Accepted) != 2 || batch.Accepted[0].ID != "chat:web:1" || batch.Accepted[1].ID != "chat:web:list/2" {
			t.Errorf("accepted %+v", batch.Accepted)
		}
		if len(batch.Refused) != 1 || batch.Refused[0].Pointer != "#/1/text" {
			t.Errorf("refused %+v", batch.Refused)
		}
	}
	if events := inputs(t, ledger); len(events) != 2 {
		t.Errorf("%d events", len(events))
	}
	problem, _ := expect[chat.Problem](t, adapter, post("web", `[{"text":7},{}]`), http.StatusBadRequest)
	if len(problem.Errors) != 2 {
		t.Errorf("%+v", problem)
	}
	expect[chat.Problem](t, adapter, post("web", `[]`), http.StatusBadRequest)
	expect[chat.Problem](t, adapter, post("web", "["+strings.Repeat(`{"text":"x"},`, 100)+`{"text":"x"}]`), http.StatusBadRequest)
}

// A body that trickles in is cut, and its connection with it.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, func(c *chat.Config) { c.BodyTimeout = 50 * time.Millisecond })
	server := httptest.NewServer(adapter.Handler())
	t.Cleanup(server.Close)
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if _, err = io.WriteString(connection, "POST /v1/chat/web HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Authorization: Bearer "+token+"\r\nContent-Length: 100\r\n\r\n{\"te"); err != nil {
		t.Fatal(err)
	}
	if err = connection.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(connection)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") || !strings.Contains(string(answer), "urn:podium:problem:slow") {
		t.Errorf("%v: %s", err, answer)
	}
	if len(inputs(t, ledger)) != 0 {
		t.Error("something was taken")
	}
}

// A wait for an answer outlives the time that the body had to arrive.
func TestWaitOutlivesTheBodyTimeout(t *testing.T) {
	t.Parallel()
	adapter := newAdapter(t, memory.New(1), func(c *chat.Config) { c.BodyTimeout = 2 * time.Second })
	server := httptest.NewServer(adapter.Handler())
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/chat/web", strings.NewReader(`{"text":"hi"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = post("web", "").with("Prefer", "wait=3").header
	before := time.Now()
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	if took := time.Since(before); reply.StatusCode != http.StatusAccepted || took < 3*time.Second {
		t.Errorf("status %d after %s", reply.StatusCode, took)
	}
}

// A key pair signs as well as a shared key (Standard Webhooks, v1a).
func TestAsymmetricSignature(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger, func(c *chat.Config) {
		c.Channels["web"] = chat.Channel{Profile: profile, Secrets: []string{secret(), "whpk_" + base64.StdEncoding.EncodeToString(public)}}
	})
	const body = `{"text":"hello"}`
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte("m1."+timestamp+"."+body)))
	signed := post("web", body, "Authorization", "", "Webhook-Id", "m1", "Webhook-Timestamp", timestamp, "Webhook-Signature", "v1a,"+signature)
	accept(t, adapter, signed)
	for _, forged := range []call{signed.withBody(body + " "), signed.with("Webhook-Signature", "v1,"+signature), signed.with("Webhook-Id", "m2")} {
		expect[chat.Problem](t, adapter, forged, http.StatusUnauthorized)
	}
}

// What it takes to answer is sealed for one channel, with an end, and no reader
// of the run gets it.
func TestReplyRefIsSealed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger, begin := memory.New(1), time.Now()
		adapter := newAdapter(t, ledger, everyProvider, func(c *chat.Config) { c.Now = func() time.Time { return begin } })
		for _, message := range everyMessage(t) {
			message.do(t, adapter)
		}
		refs := map[string]string{}
		for _, event := range inputs(t, ledger) {
			received := read[schemas.ChatReceived](t, event.Data)
			refs[received.Channel] = received.ReplyRef
		}
		end := strconv.FormatInt(begin.Add(30*24*time.Hour).Unix(), 10)
		if !strings.HasPrefix(refs["slack"], "slack|"+end+`|{"place":"C1","thread":"1.2","message":"1.2","received":`) {
			t.Errorf("slack: %s", refs["slack"])
		}
		if refs["web"] != "" || refs["teams"] != "" || refs["mattermost"] == "" || refs["telegram"] == "" {
			t.Errorf("%v", refs)
		}
	})
}

func TestReplyRefIsNotShown(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	accepted := accept(t, adapter, post("web", hello))
	session := newScript(t, ledger, accepted.Session)
	fact := started(accepted, 1)
	schemas.As[*schemas.RunStarted](fact).Message.Reply.ReplyRef = "sealed-for-another"
	queued := received(accepted, 1, schemas.DispositionStarted)
	session.record(queued, fact)
	ctx, cancel := context.WithCancel(t.Context())
	stream := &tap{header: http.Header{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		adapter.Handler().ServeHTTP(stream, get(accepted.Events).request(ctx))
	}()
	for !strings.Contains(stream.seen(), "run_started") {
		runtime.Gosched()
	}
	cancel()
	<-ended
	if strings.Contains(stream.seen(), "sealed-for-another") {
		t.Errorf("%s", stream.seen())
	}
	shown := httptest.NewRecorder()
	adapter.Handler().ServeHTTP(shown, get(accepted.Run).request(t.Context()))
	if !strings.Contains(shown.Body.String(), `"reply":`) || strings.Contains(shown.Body.String(), "sealed-for-another") {
		t.Errorf("%s", shown.Body)
	}
}
