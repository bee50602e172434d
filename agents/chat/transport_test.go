package chat_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"podium/agents/chat"
	"podium/schemas"
)

// TestChannelHasItsOwnTransport: where the answers of a channel may go is for its own transport to say, whatever the
// provider, and for no other channel's.
func TestChannelHasItsOwnTransport(t *testing.T) {
	t.Parallel()
	var own, others []string
	note := func(hosts *[]string) transport {
		return func(r *http.Request) (*http.Response, error) {
			*hosts = append(*hosts, r.URL.Host)
			return nil, errors.New("no further")
		}
	}
	agent := newAgent(t, chat.Config{Transport: note(&others), Opener: opener{"mattermost r": {Place: "c1", Message: "p2", Received: now}}, Now: func() time.Time { return now }, Channels: map[string]chat.Channel{
		"near": {Callback: "https://near.example/", Secret: secret, Transport: note(&own)}, "far": {Callback: "https://far.example/", Secret: secret},
		"mattermost": {Provider: schemas.ProviderMattermost, URL: "https://team.example", BotToken: "t", Transport: note(&own)},
	}})
	for _, channel := range []string{"near", "far", "mattermost"} {
		if _, err := agent.Handle(t.Context(), requestWith(`{"channel":"`+channel+`","text":"x","reply_ref":"r"}`, "en"), ignore); err == nil {
			t.Errorf("%s is answered", channel)
		}
	}
	if !slices.Equal(slices.Compact(own), []string{"near.example", "team.example"}) || !slices.Equal(others, []string{"far.example"}) {
		t.Errorf("its own goes to %v, the others to %v", own, others)
	}
}
