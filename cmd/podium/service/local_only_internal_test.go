package service

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
	"podium/bus/agent"
	"podium/cmd/podium/config"
	"podium/cmd/podium/egress"
	"podium/schemas"
)

// resolver is a name server that gives each name the addresses of a list, one after the other, and then the last.
func resolver(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	server, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	serving.Go(func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var asked dnsmessage.Message
			if asked.Unpack(buffer[:n]) != nil || len(asked.Questions) != 1 {
				continue
			}
			answer := dnsmessage.Message{Header: dnsmessage.Header{ID: asked.ID, Response: true, RecursionAvailable: true}, Questions: asked.Questions}
			if question := asked.Questions[0]; question.Type == dnsmessage.TypeA {
				answer.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.AResource{A: netip.MustParseAddr(addresses[0]).As4()},
				}}
				addresses = addresses[min(1, len(addresses)-1):]
			}
			if packed, err := answer.Pack(); err == nil {
				_, _ = server.WriteTo(packed, from)
			}
		}
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// TestLocalModelIsHeldAtDial_G38: a name that led to this machine, and leads to a public address or to a metadata service
// the next time, leads nowhere, whatever check has said of it.
func TestLocalModelIsHeldAtDial_G38(t *testing.T) {
	t.Parallel()
	server := modelserver.Start(t, func(*modelserver.Call) modelserver.Answer { return modelserver.Answer{Text: "Here I am."} })
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	settings := &config.Agent{Kind: config.KindLLM, Role: llm.RoleWorker, BaseURL: "http://models.example:" + at.Port() + "/v1", Model: "m", Egress: config.Local()}
	guard := egress.Guard{Policy: settings.Leads(), Resolver: resolver(t, "127.0.0.1", "93.184.216.34", "169.254.169.254", "192.0.2.1")}
	for n, want := range []string{"", "Nothing may be sent there", "Nothing may be sent there", "Nothing may be sent there"} {
		made, err := llmAgentBy(settings, guard) // with connections of its own
		if err != nil {
			t.Fatal(err)
		}
		request := &agent.Request{ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{Tasks: []schemas.Task{{TaskID: "t1", Description: "Where are you?"}}}}}
		outcome, err := made.Handle(t.Context(), request, func(int, string) {})
		failure, failed := errors.AsType[*agent.Failure](err)
		switch {
		case want == "" && (err != nil || outcome.Text != "Here I am."):
			t.Errorf("%d: %q, %v", n, outcome.Text, err)
		case want != "" && (!failed || !failure.Permanent || !strings.Contains(failure.Message, want)):
			t.Errorf("%d: %q, %v", n, outcome.Text, err)
		}
	}
	if calls := len(server.Calls()); calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

// TestLocalDelivery_G38: what delivers the answers of a profile with local_only is held where it connects, and nobody else.
func TestLocalDelivery_G38(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{true, false} {
		settings := &config.Config{
			Profiles: map[string]config.Profile{"desk": {LocalOnly: local}},
			Mail:     config.Mail{Accounts: []config.Account{{Name: "support", Profile: "desk"}}},
			Chat:     config.Chat{Channels: map[string]config.Channel{"web": {Profile: "desk"}}},
		}
		channel := chatChannels(settings)["web"]
		account := mailAccount(settings, &config.Account{Name: "support", Profile: "desk", SMTP: config.SMTP{Sent: config.SentNone}}, nil, nil)
		mailbox := mailboxConfig(settings, &settings.Mail.Accounts[0], "INBOX", nil, nil)
		if (channel.Transport != nil) != local || (account.Control != nil) != local || (mailbox.Control != nil) != local {
			t.Fatalf("local_only %t: transport %v", local, channel.Transport)
		}
		if !local {
			continue
		}
		for address, allowed := range map[string]bool{
			"127.0.0.1:25": true, "192.168.7.7:587": true, "[fd12::1]:25": true, "93.184.216.34:25": false, "169.254.169.254:80": false, "[2606:4700::1111]:465": false, "0.0.0.0:25": false, "x": false,
		} {
			if err := account.Control("tcp", address, nil); (err == nil) != allowed || err != nil && !errors.Is(err, egress.ErrEgress) {
				t.Errorf("%s: %v", address, err)
			}
			if err := mailbox.Control("tcp", address, nil); (err == nil) != allowed {
				t.Errorf("a mailbox at %s: %v", address, err)
			}
		}
	}
}
