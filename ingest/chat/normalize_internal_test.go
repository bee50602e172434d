package chat

import (
	"net/http"
	"reflect"
	"testing"

	"podium/ingest/problem"
	"podium/schemas"
)

const (
	jsonType = "application/json"
)

func slackEventBody(event string) string {
	return `{"token":"z","team_id":"T1","api_app_id":"A1","event":` + event +
		`,"type":"event_callback","event_id":"Ev1","event_time":1355517523,"authorizations":[{"user_id":"UBOT","is_bot":true}]}`
}

// What each provider's documented payloads become.
func TestNormalize_X02(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		channel Channel
		media   string
		body    string
		want    Message
	}{
		"slack mention in a thread": {
			Channel{Provider: schemas.ProviderSlack},
			jsonType,
			slackEventBody(`{"type":"app_mention","user":"U1","text":"<@UBOT> is 2 &lt; 3 &amp;&amp; <#C9|x>?","ts":"1355517523.000005","thread_ts":"1355517500.000001","channel":"C1"}`),
			Message{
				Delivery: "T1/C1/1355517523.000005",
				ChatReceived: schemas.ChatReceived{
					Tenant: "T1", Thread: "C1/1355517500.000001", MessageID: "C1/1355517523.000005", Text: "is 2 < 3 && #x?", User: schemas.ChatUser{ID: "U1"},
				},
				Route: &schemas.ChatRoute{Place: "C1", Thread: "1355517500.000001", Message: "1355517523.000005"},
			},
		},
		"slack message beside a file": {
			Channel{Provider: schemas.ProviderSlack},
			jsonType,
			slackEventBody(`{"type":"message","subtype":"file_share","user":"U1","text":"what is this?","ts":"1.2","channel":"D1","channel_type":"im"}`),
			Message{
				Delivery:     "T1/D1/1.2",
				ChatReceived: schemas.ChatReceived{Tenant: "T1", Thread: "D1/1.2", MessageID: "D1/1.2", Text: "what is this?", User: schemas.ChatUser{ID: "U1"}},
				Route:        &schemas.ChatRoute{Place: "D1", Thread: "1.2", Message: "1.2"},
			},
		},
		"slack half a character": {
			Channel{Provider: schemas.ProviderSlack},
			jsonType, slackEventBody(`{"type":"message","user":"U1","text":"hi \ud83d","ts":"1.2","channel":"C1"}`),
			Message{
				Delivery:     "T1/C1/1.2",
				ChatReceived: schemas.ChatReceived{Tenant: "T1", Thread: "C1/1.2", MessageID: "C1/1.2", Text: "hi \ufffd", User: schemas.ChatUser{ID: "U1"}},
				Route:        &schemas.ChatRoute{Place: "C1", Thread: "1.2", Message: "1.2"},
			},
		},
		"slack command": {
			Channel{Provider: schemas.ProviderSlack},
			mediaTypeForm,
			"team_id=T1&channel_id=C1&user_id=U1&user_name=ann&command=%2Fask&text=2+%26amp%3B+3&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2Fx&trigger_id=13.4",
			Message{
				Delivery: "T1/C1/13.4", Command: true,
				ChatReceived: schemas.ChatReceived{Tenant: "T1", Thread: "C1/13.4", MessageID: "C1/13.4", Text: "2 & 3", User: schemas.ChatUser{ID: "U1", Name: "ann"}},
				Route:        &schemas.ChatRoute{Place: "C1", User: "U1", Response: "https://hooks.slack.com/commands/x"},
			},
		},
		"mattermost outgoing webhook": {
			Channel{Provider: schemas.ProviderMattermost, Bot: true, Links: true},
			jsonType,
			`{"token":"x","team_id":"t1","team_domain":"d","channel_id":"c1","channel_name":"town","timestamp":1,"user_id":"u1","user_name":"ann","post_id":"p1","text":"ask 2+2","trigger_word":"ask","file_ids":""}`,
			Message{
				Delivery:     "p1",
				ChatReceived: schemas.ChatReceived{Tenant: "t1", Thread: "c1/p1", MessageID: "c1/p1", Text: "2+2", User: schemas.ChatUser{ID: "u1", Name: "ann"}},
				Route:        &schemas.ChatRoute{Place: "c1", Message: "p1"},
			},
		},
		"mattermost in a thread, without a bot": {
			Channel{Provider: schemas.ProviderMattermost},
			mediaTypeForm, "token=x&channel_id=c1&user_id=u1&post_id=p2&root_id=p1&text=and+3",
			Message{
				Delivery:     "p2",
				ChatReceived: schemas.ChatReceived{Thread: "c1/p1", MessageID: "c1/p2", Text: "and 3", User: schemas.ChatUser{ID: "u1"}},
			},
		},
		"mattermost command": {
			Channel{Provider: schemas.ProviderMattermost, Links: true},
			mediaTypeForm,
			"team_id=t1&channel_id=c1&user_id=u1&user_name=ann&command=%2Fask&text=2%2B2&trigger_id=g1&response_url=https%3A%2F%2Fmm%2Fhooks%2Fcommands%2Fh",
			Message{
				Delivery: "g1", Command: true,
				ChatReceived: schemas.ChatReceived{Tenant: "t1", Thread: "c1/g1", MessageID: "c1/g1", Text: "2+2", User: schemas.ChatUser{ID: "u1", Name: "ann"}},
				Route:        &schemas.ChatRoute{Place: "c1", Response: "https://mm/hooks/commands/h"},
			},
		},
		"telegram in a topic": {
			Channel{Provider: schemas.ProviderTelegram},
			jsonType,
			`{"update_id":10001,"message":{"message_id":7,"message_thread_id":5,"is_topic_message":true,"from":{"id":9,"is_bot":false,"first_name":"Ann","last_name":"Lee","language_code":"de"},"chat":{"id":-100123,"type":"supergroup"},"text":"2+2"}}`,
			Message{
				Delivery: "10001", Locale: "de",
				ChatReceived: schemas.ChatReceived{Thread: "-100123/5", MessageID: "-100123/7", Text: "2+2", User: schemas.ChatUser{ID: "9", Name: "Ann Lee"}},
				Route:        &schemas.ChatRoute{Place: "-100123", Thread: "5", Message: "7"},
			},
		},
		"telegram caption, edited": {
			Channel{Provider: schemas.ProviderTelegram},
			jsonType,
			`{"update_id":10002,"edited_message":{"message_id":7,"from":{"id":9,"is_bot":false,"first_name":"Ann"},"chat":{"id":9},"caption":"what is this?"}}`,
			Message{
				Delivery:     "10002",
				ChatReceived: schemas.ChatReceived{Thread: "9", MessageID: "9/7", Text: "what is this?", User: schemas.ChatUser{ID: "9", Name: "Ann"}},
				Route:        &schemas.ChatRoute{Place: "9", Message: "7"},
			},
		},
		"teams": {
			Channel{Provider: schemas.ProviderTeams},
			jsonType, teamsBody,
			Message{
				Delivery: "1485983408511", Locale: "de-DE",
				ChatReceived: schemas.ChatReceived{
					Tenant: "72f988bf-86f1-41af-91ab-2d7cd011db47", Thread: "19:253b1f341670408fb6fe51050b6e5ceb@thread.skype;messageid=1485983194839",
					MessageID: "1485983408511", Text: "2<3?",
					User: schemas.ChatUser{ID: "29:1XJKJMvc5GBtc2JwZq0oj8tHZmzrQgFmB25ATiQWA85gQtHieVkKilBZ9XHoq9j7Zaqt7CZ-NJWi7me2kHTL3Bw", Name: "Tim Jones"},
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := normalizer(t, test.channel).Normalize([]byte(test.body), http.Header{"Content-Type": {test.media}})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || !reflect.DeepEqual(got[0], test.want) {
				t.Errorf("%+v\nwant\n%+v", got, test.want)
			}
		})
	}
}

func normalizer(t *testing.T, channel Channel) Provider {
	t.Helper()
	channel.Secrets = []string{otherSecrets()[channel.Provider]}
	made, err := channel.provider()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Bots answer bots for ever if somebody lets them; and much of what a provider
// sends is no message.
func TestIgnored(t *testing.T) {
	t.Parallel()
	slack, mattermost := Channel{Provider: schemas.ProviderSlack}, Channel{Provider: schemas.ProviderMattermost, OwnUser: "podium"}
	telegram, teams := Channel{Provider: schemas.ProviderTelegram}, Channel{Provider: schemas.ProviderTeams}
	for name, test := range map[string]struct {
		channel     Channel
		media, body string
		reason      string
	}{
		"slack bot":           {slack, jsonType, slackEventBody(`{"type":"message","bot_id":"B1","text":"x","ts":"1.2","channel":"C1"}`), ignoredBot},
		"slack bot message":   {slack, jsonType, slackEventBody(`{"type":"message","subtype":"bot_message","text":"x","ts":"1.2","channel":"C1"}`), ignoredBot},
		"slack own app":       {slack, jsonType, slackEventBody(`{"type":"message","app_id":"A1","user":"U1","text":"x","ts":"1.2","channel":"C1"}`), ignoredBot},
		"slack own user":      {slack, jsonType, slackEventBody(`{"type":"message","user":"UBOT","text":"x","ts":"1.2","channel":"C1"}`), ignoredBot},
		"slack edit":          {slack, jsonType, slackEventBody(`{"type":"message","subtype":"message_changed","ts":"1.2","channel":"C1"}`), ignoredSubtype},
		"slack join":          {slack, jsonType, slackEventBody(`{"type":"message","subtype":"channel_join","user":"U1","text":"joined","ts":"1.2","channel":"C1"}`), ignoredSubtype},
		"slack reaction":      {slack, jsonType, slackEventBody(`{"type":"reaction_added","user":"U1"}`), ignoredType},
		"slack rate limit":    {slack, jsonType, `{"type":"app_rate_limited","team_id":"T1"}`, ignoredType},
		"slack mention alone": {slack, jsonType, slackEventBody(`{"type":"app_mention","user":"U1","text":"<@UBOT>","ts":"1.2","channel":"C1"}`), ignoredEmpty},
		"slack bare command":  {slack, mediaTypeForm, "channel_id=C1&command=%2Fask&text=+&trigger_id=1.2", ignoredEmpty},
		"mattermost own id":   {mattermost, jsonType, `{"channel_id":"c","user_id":"podium","post_id":"p","text":"x"}`, ignoredBot},
		"mattermost own name": {mattermost, mediaTypeForm, "channel_id=c&user_id=u&user_name=Podium&post_id=p&text=x", ignoredBot},
		"mattermost no text":  {mattermost, mediaTypeForm, "channel_id=c&user_id=u&post_id=p&file_ids=f", ignoredEmpty},
		"telegram bot":        {telegram, jsonType, `{"update_id":1,"message":{"message_id":2,"from":{"id":3,"is_bot":true},"chat":{"id":4},"text":"x"}}`, ignoredBot},
		"telegram channel":    {telegram, jsonType, `{"update_id":1,"channel_post":{"message_id":2,"chat":{"id":4},"text":"x"}}`, ignoredType},
		"telegram anonymous":  {telegram, jsonType, `{"update_id":1,"message":{"message_id":2,"chat":{"id":4},"text":"x"}}`, ignoredBot},
		"telegram sticker":    {telegram, jsonType, `{"update_id":1,"message":{"message_id":2,"from":{"id":3},"chat":{"id":4}}}`, ignoredEmpty},
		"teams bot":           {teams, jsonType, `{"type":"message","id":"1","from":{"id":"28:b"},"conversation":{"id":"c"},"text":"x"}`, ignoredBot},
		"teams by role":       {teams, jsonType, `{"type":"message","id":"1","from":{"id":"x","role":"bot"},"conversation":{"id":"c"},"text":"x"}`, ignoredBot},
		"teams reaction":      {teams, jsonType, `{"type":"messageReaction","id":"1"}`, ignoredType},
		"teams mention alone": {teams, jsonType, `{"type":"message","id":"1","from":{"id":"x"},"conversation":{"id":"c"},"text":"<p><at>Podium</at>&nbsp;</p>"}`, ignoredEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := normalizer(t, test.channel).Normalize([]byte(test.body), http.Header{"Content-Type": {test.media}})
			if err != nil || len(got) != 1 || got[0].Ignored != test.reason {
				t.Errorf("%+v (%v), want ignored: %s", got, err, test.reason)
			}
		})
	}
}

// What an authentic sender cannot mend goes into quarantine; what it was set up
// wrongly for, it is told.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind        schemas.ChatProvider
		media, body string
		told        bool
	}{
		"slack cut off":            {schemas.ProviderSlack, jsonType, `{"type":"event_callback"`, false},
		"slack without ts":         {schemas.ProviderSlack, jsonType, slackEventBody(`{"type":"message","user":"U1","text":"x","channel":"C1"}`), false},
		"slack form of no command": {schemas.ProviderSlack, mediaTypeForm, "payload=%7B%7D", false},
		"slack control character":  {schemas.ProviderSlack, jsonType, slackEventBody(`{"type":"message","user":"U\u0000","text":"x","ts":"1.2","channel":"C1"}`), false},
		"slack plain text":         {schemas.ProviderSlack, "text/plain", `x`, true},
		"mattermost no channel":    {schemas.ProviderMattermost, mediaTypeForm, "post_id=p&text=x", false},
		"mattermost XML":           {schemas.ProviderMattermost, "text/xml", "<x/>", true},
		"telegram no id":           {schemas.ProviderTelegram, jsonType, `{}`, false},
		"telegram wrong kinds":     {schemas.ProviderTelegram, jsonType, `{"update_id":"one"}`, false},
		"telegram form":            {schemas.ProviderTelegram, mediaTypeForm, "update_id=1", true},
		"teams no id":              {schemas.ProviderTeams, jsonType, `{"type":"message","from":{"id":"x"},"text":"x"}`, false},
		"teams form":               {schemas.ProviderTeams, mediaTypeForm, "type=message", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, err := normalizer(t, Channel{Provider: test.kind}).Normalize([]byte(test.body), http.Header{"Content-Type": {test.media}})
			if err == nil {
				t.Fatalf("it is read: %+v", messages)
			}
			if _, told := err.(problem.Problem); told != test.told { //nolint:errorlint // as the pipeline sees it
				t.Errorf("%T: %v", err, err)
			}
		})
	}
}

func TestHandshakes(t *testing.T) {
	t.Parallel()
	slack := normalizer(t, Channel{Provider: schemas.ProviderSlack})
	challenge := `{"token":"z","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}`
	if got := slack.Handshake([]byte(challenge), http.Header{"Content-Type": {jsonType}}); got == nil || got.Status != 200 ||
		string(got.Body) != "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" {
		t.Errorf("challenge: %+v", got)
	}
	if got := slack.Handshake([]byte("ssl_check=1&token=x"), http.Header{"Content-Type": {mediaTypeForm}}); got == nil || got.Status != 200 {
		t.Errorf("ssl_check: %+v", got)
	}
	if got := slack.Handshake([]byte(slackEventBody(`{"type":"message"}`)), http.Header{"Content-Type": {jsonType}}); got != nil {
		t.Errorf("a message is taken for a handshake: %+v", got)
	}
}

func TestSecretsAreKeptOutOfQuarantine(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"token":"abc","x":"token","response_url": "https:\/\/h\"x","b":1}`: `{"token":"***","x":"token","response_url": "***","b":1}`,
		`token=abc&text=token&response_url=https%3A%2F%2Fh`:                  `token=***&text=token&response_url=***`,
		`text=a&token=b`: `text=a&token=***`,
	} {
		if got := string(redacted([]byte(given))); got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
	}
}
