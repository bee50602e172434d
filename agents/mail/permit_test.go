package mail_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/bus/agent"
)

var errRefused = errors.New("nobody wants it any more")

// The permit is asked for when everything that can fail for free has succeeded, and
// without it the server gets no letter.
func TestNoMailWithoutAPermit(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{"granted": nil, "refused": errRefused} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recipients atomic.Int32
			sink := startSink(t, smtpsink.Config{OnRecipient: func(string) error {
				recipients.Add(1)
				return nil
			}})
			asked := 0
			given := requestWith(t, newAnswer())
			request := given.WithPermit(func(context.Context) error {
				asked++
				if recipients.Load() != 1 || len(sink.Messages()) != 0 {
					t.Errorf("it is asked after %d recipients and %d letters", recipients.Load(), len(sink.Messages()))
				}
				return refusal
			})
			_, err := newAgent(t, sink).Handle(t.Context(), request, ignore)
			want := 1
			if refusal != nil {
				want = 0
			}
			if sent := len(sink.Messages()); !errors.Is(err, refusal) || asked != 1 || sent != want {
				t.Errorf("asked %d times, %d letters, %v", asked, sent, err)
			}
		})
	}
}

// What fails for free asks for nothing.
func TestNoPermitForWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{OnRecipient: func(string) error { return &smtpsink.Refusal{Code: 550, Text: "unknown"} }})
	unknown := newAnswer()
	unknown.Account = "nobody's"
	for name, test := range map[string]struct {
		agent *mail.Agent
		given answer
	}{
		"no such account":   {newAgent(t, sink), unknown},
		"no such recipient": {newAgent(t, sink), newAnswer()},
		"no such server":    {newAgent(t, sink, func(a *mail.Account) { a.Port = 1 }), newAnswer()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := requestWith(t, test.given)
			request := given.WithPermit(func(context.Context) error {
				t.Error("it is asked")
				return nil
			})
			_, err := test.agent.Handle(t.Context(), request, ignore)
			if failure, ok := errors.AsType[*agent.Failure](err); !ok || failure.Unknown {
				t.Errorf("%+v", err)
			}
		})
	}
}

// Only a connection that breaks after the last byte leaves in doubt whether the
// server has the letter.
func TestDoubtAboutAMail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  error
		unknown bool
	}{
		"kept and cut":    {smtpsink.ErrKeepAndCut, true},
		"cut":             {smtpsink.ErrCut, true},
		"refused for now": {&smtpsink.Refusal{Code: 452, Text: "full"}, false},
		"refused":         {&smtpsink.Refusal{Code: 554, Text: "spam"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, smtpsink.Config{OnMessage: func(*smtpsink.Message) error { return test.answer }})
			_, err := newAgent(t, sink).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			if failure := asFailure(t, err); failure.Unknown != test.unknown {
				t.Errorf("unknown %v: %v", failure.Unknown, err)
			}
		})
	}
}
