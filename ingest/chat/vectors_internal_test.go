package chat

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"podium/ingest/webhook"
	"podium/schemas"
)

// The secrets of the vectors.
const (
	slackSecret      = "8f742231b10e8888abcd99yyyzzz85a5"
	mattermostToken  = "xr3j5x3p4pfk7kk6ck7b4e6ghh"
	telegramToken    = "0123456789abcdef_-"
	teamsSecret      = "HEprP2GEZNoCBqAc6GTY0gzYkRJ+EPwzoMqVfhXPEZc="
	mediaTypeForm    = "application/x-www-form-urlencoded"
	slackCommandBody = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
		"&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands" +
		"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	teamsBody = `{"type":"message","id":"1485983408511","timestamp":"2017-02-01T21:10:07.437Z","from":{"id":"29:1XJKJMvc5GBtc2JwZq0oj8tHZmzrQgFmB25ATiQWA85gQtHieVkKilBZ9XHoq9j7Zaqt7CZ-NJWi7me2kHTL3Bw","name":"Tim Jones"},"conversation":{"id":"19:253b1f341670408fb6fe51050b6e5ceb@thread.skype;messageid=1485983194839"},"channelData":{"teamsTeamId":"19:712c61d0ef384e5fa681ba90ca943398@thread.skype","team":{"id":"19:712c61d0ef384e5fa681ba90ca943398@thread.skype"},"tenant":{"id":"72f988bf-86f1-41af-91ab-2d7cd011db47"}},"text":"<at>Podium</at>&nbsp;2&lt;3?","textFormat":"plain","locale":"de-DE"}`
)

// A vector is a request as its provider makes it, at the time that it names.
type vector struct {
	channel Channel
	header  http.Header
	body    string
	at      time.Time
	timed   bool // a request of another time is refused
}

// vectors were not made with this package. webhook v1: published by Standard
// Webhooks. v1a: the same content signed by OpenSSL with the key of RFC 8032,
// section 7.1, TEST 1. slack: published in "Verifying requests from Slack".
// teams: HMAC-SHA256 over the example of "Create Outgoing Webhooks", by Python's
// hmac. Mattermost and Telegram show their secret as it is.
func vectors() map[string]vector {
	header := func(pairs ...string) http.Header {
		made := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			made.Set(pairs[i], pairs[i+1])
		}
		return made
	}
	return map[string]vector{
		"webhook v1": {
			Channel{Secrets: []string{"whsec_" + webhookKey}},
			header("Content-Type", "application/json", webhook.HeaderID, "msg_loFOjxBNrRLzqYUf",
				webhook.HeaderTimestamp, "1731705121", webhook.HeaderSignature, "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="),
			`{"event_type":"ping","data":{"success":true}}`, time.Unix(1_731_705_121, 0), true,
		},
		"webhook v1a": {
			Channel{Secrets: []string{"whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}},
			header("Content-Type", "application/json", webhook.HeaderID, "msg_p5jXN8AQM9LWM0D4loKWxJek", webhook.HeaderTimestamp, "1614265330",
				webhook.HeaderSignature, "v1a,fldxM4gAKugP6nnt1hdz3sgGfZ6d99nzrMFnZOELIxbzEHoVmAb2ADpkJK7zgPePmPsle0zV9jSeGlHFG2NVAw=="),
			`{"test": 2432232314}`, time.Unix(1_614_265_330, 0), true,
		},
		"slack": {
			Channel{Provider: schemas.ProviderSlack, Secrets: []string{slackSecret}},
			header("Content-Type", mediaTypeForm, headerSlackTimestamp, "1531420618",
				headerSlackSignature, "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"),
			slackCommandBody, time.Unix(1_531_420_618, 0), true,
		},
		"mattermost, token in the form": {
			Channel{Provider: schemas.ProviderMattermost, Secrets: []string{mattermostToken}},
			header("Content-Type", mediaTypeForm),
			"token=" + mattermostToken + "&team_id=t&channel_id=c&user_id=u&post_id=p&text=hi", time.Unix(1, 0), false,
		},
		"mattermost, token in the JSON": {
			Channel{Provider: schemas.ProviderMattermost, Secrets: []string{mattermostToken}},
			header("Content-Type", "application/json"),
			`{"token":"` + mattermostToken + `","team_id":"t","channel_id":"c","post_id":"p","text":"hi"}`, time.Unix(1, 0), false,
		},
		"mattermost, token in the header": {
			Channel{Provider: schemas.ProviderMattermost, Secrets: []string{mattermostToken}},
			header("Content-Type", mediaTypeForm, "Authorization", "Token "+mattermostToken),
			"channel_id=c&command=%2Fask&trigger_id=g&text=hi", time.Unix(1, 0), false,
		},
		"telegram": {
			Channel{Provider: schemas.ProviderTelegram, Secrets: []string{telegramToken}},
			header("Content-Type", "application/json", headerTelegramSecret, telegramToken),
			`{"update_id":10000,"message":{"message_id":1365,"date":1441645532,"from":{"id":1111111,"is_bot":false,"first_name":"Test"},"chat":{"id":1111111,"type":"private"},"text":"hi"}}`,
			time.Unix(1, 0), false,
		},
		"teams": {
			Channel{Provider: schemas.ProviderTeams, Secrets: []string{teamsSecret}},
			header("Content-Type", "application/json; charset=utf-8", "Authorization", "HMAC /gCYI/4/mpcnpKMXZ9x+dCS9476AXp1xlHEzxC2EAkc="),
			teamsBody, time.Date(2017, 2, 1, 21, 10, 8, 0, time.UTC), true,
		},
	}
}

// webhookKey is that of the published vectors, which is shorter than a channel's may be,
// with zeros behind it: HMAC fills a key up with them (RFC 2104, section 2).
const webhookKey = "plJ3nmyCDGBKInavdOK15jslAAAAAAAA"

func (v *vector) provider(tb testing.TB) Provider {
	tb.Helper()
	made, err := v.channel.provider()
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// Every provider's documented algorithm is the one that is checked, and nothing
// of the request may be another.
func TestGoldenVectors(t *testing.T) {
	t.Parallel()
	for name, v := range vectors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider, body := v.provider(t), []byte(v.body)
			if !provider.Verify(body, v.header, v.at) {
				t.Fatal("the vector is refused")
			}
			for _, at := range []time.Time{v.at.Add(-webhook.Skew + 2*time.Second), v.at.Add(webhook.Skew - 2*time.Second)} {
				if !provider.Verify(body, v.header, at) {
					t.Errorf("it is refused at %s", at)
				}
			}
			for _, at := range []time.Time{v.at.Add(-webhook.Skew - 2*time.Second), v.at.Add(webhook.Skew + 2*time.Second)} {
				if v.timed && provider.Verify(body, v.header, at) {
					t.Errorf("it is accepted at %s", at)
				}
			}
			if changed := append([]byte(v.body), ' '); v.timed && provider.Verify(changed, v.header, v.at) {
				t.Error("another body is accepted")
			}
			if provider.Verify(nil, v.header, v.at) && v.timed {
				t.Error("no body is accepted")
			}
			stranger, other := v.channel, vector{}
			stranger.Secrets = []string{otherSecrets()[v.channel.Provider]}
			other.channel = stranger
			if other.provider(t).Verify(body, v.header, v.at) {
				t.Error("a channel with another secret accepts it")
			}
		})
	}
}

func otherSecrets() map[schemas.ChatProvider]string {
	return map[schemas.ChatProvider]string{
		"": "whsec_" + "C2FVsBQIhrscChlQIMV+b5sSYspob7oD", schemas.ProviderSlack: "0123456789abcdef0123456789abcdef", schemas.ProviderMattermost: "tatkfcbt43b6xenm5xd1wu1ekh",
		schemas.ProviderTelegram: "another_secret_token", schemas.ProviderTeams: base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}
}

// Two secrets hold at a time, whichever comes first, and a third is not allowed.
func TestSecretsRotate(t *testing.T) {
	t.Parallel()
	for name, v := range vectors() {
		if name == "webhook v1" {
			continue // its key is put into a channel by hand; TestVerify rotates it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, next := v.channel.Secrets[0], otherSecrets()[v.channel.Provider]
			for _, secrets := range [][]string{{own, next}, {next, own}} {
				rotating := v
				rotating.channel.Secrets = secrets
				if !rotating.provider(t).Verify([]byte(v.body), v.header, v.at) {
					t.Errorf("with %d secrets it is refused", len(secrets))
				}
			}
			three := v.channel
			three.Secrets = []string{own, next, next}
			if _, err := three.provider(); err == nil {
				t.Error("three secrets are accepted")
			}
		})
	}
}

// No header of a verifier is read by halves: each one changed or missing is refused.
func TestNothingOfAProofIsOptional(t *testing.T) {
	t.Parallel()
	for name, v := range vectors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := v.provider(t)
			for key := range v.header {
				if key == "Content-Type" {
					continue
				}
				for label, value := range map[string]string{"missing": "", "longer": v.header.Get(key) + "0", "spoiled": "x" + v.header.Get(key)} {
					header := v.header.Clone()
					header.Set(key, value)
					if provider.Verify([]byte(v.body), header, v.at) {
						t.Errorf("%s %s: it is accepted", key, label)
					}
				}
			}
		})
	}
}

func FuzzProviders(f *testing.F) {
	all := vectors()
	names := slices.Sorted(maps.Keys(all))
	var providers []Provider
	for i, name := range names {
		v := all[name]
		providers = append(providers, v.provider(f))
		f.Add(i, v.header.Get("Content-Type"), v.header.Get("Authorization"), "", v.header.Get(headerSlackTimestamp), v.body)
	}
	f.Add(0, "application/json", "HMAC =", "v0=", "1", `{"type":"event_callback","event":{"type":"message","channel":"C","ts":"1.2","text":"<@U>"}}`)
	f.Fuzz(func(t *testing.T, which int, mediaType, authorization, signature, timestamp, body string) {
		number := uint(which) % uint(len(names))
		v, provider := all[names[number]], providers[number]
		header := http.Header{}
		header.Set("Content-Type", mediaType)
		header.Set("Authorization", authorization)
		header.Set(headerSlackSignature, signature)
		header.Set(headerSlackTimestamp, timestamp)
		header.Set(webhook.HeaderSignature, signature)
		header.Set(headerTelegramSecret, signature)
		_ = provider.Verify([]byte(body), header, v.at)
		_ = provider.Handshake([]byte(body), header)
		messages, err := provider.Normalize([]byte(body), header)
		if err != nil {
			return
		}
		for i := range messages {
			if messages[i].Ignored != "" || messages[i].Fault != nil {
				continue
			}
			event, named, err := messages[i].event(envelope{channel: "web", kind: v.channel.Provider, profile: "p", now: v.at})
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			if v.channel.Provider != "" && !named {
				t.Error("a provider's message has no id, so that a repeat would run again")
			}
			if err := event.Validate(); err != nil {
				t.Errorf("what was read is no event: %v", err)
			}
		}
	})
}

// The seconds of Slack's vector are those of its header.
func TestSlackTimestampIsSigned(t *testing.T) {
	t.Parallel()
	v := vectors()["slack"]
	header := v.header.Clone()
	header.Set(headerSlackTimestamp, strconv.FormatInt(v.at.Unix()+1, 10))
	if v.provider(t).Verify([]byte(v.body), header, v.at) {
		t.Error("another timestamp is accepted")
	}
}
