package mail_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/bus/agent"
	"podium/schemas"
)

// An outbox is a folder of sent mail in memory.
type outbox struct {
	findError, appendError error
	found                  atomic.Int32 // how often it was asked
	late                   int32        // it finds nothing before it was asked so often

	mu      sync.Mutex
	letters [][]byte
	// stored is asked by a server that stores by itself; nil is none.
	stored func() []smtpsink.Message
}

func (o *outbox) Find(_ context.Context, messageID, prefix string) (bool, error) {
	if asked := o.found.Add(1); o.findError != nil || asked < o.late {
		return false, o.findError
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	letters := slices.Clone(o.letters)
	if o.stored != nil {
		for _, message := range o.stored() {
			letters = append(letters, message.Data)
		}
	}
	return slices.ContainsFunc(letters, func(raw []byte) bool {
		raw = bytes.ReplaceAll(raw, []byte("Message-ID:\r\n <"), []byte("Message-ID: <")) // folded
		return bytes.Contains(raw, []byte("Message-ID: <"+messageID+">\r\n")) || bytes.Contains(raw, []byte("Message-ID: <"+prefix))
	}), nil
}

func (o *outbox) Append(_ context.Context, raw []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.appendError == nil {
		o.letters = append(o.letters, raw)
	}
	return o.appendError
}

// cutFirst is a server that says nothing to the first letter, which it has or not.
func cutFirst(keeps bool) func(*smtpsink.Message) error {
	var tried atomic.Int32
	return func(*smtpsink.Message) error {
		switch {
		case tried.Add(1) > 1:
			return nil
		case keeps:
			return smtpsink.ErrKeepAndCut
		}
		return smtpsink.ErrCut
	}
}

// A lost answer after the last dot is resolved by the folder of sent mail, if
// somebody puts mail there without the agent.
func TestDoubtIsResolvedByTheFolderOfSentMail_I25(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keeps    bool
		sent     mail.Sent
		err      error // of looking
		late     int32 // the look that finds it
		unknown  bool
		resolved string
		letters  int // after a second attempt, if the first has failed
	}{
		"the server stored it":        {keeps: true, sent: mail.SentServer, resolved: "sent", letters: 1},
		"the server did not store it": {sent: mail.SentServer, unknown: true, letters: 1},
		"the server stores it late":   {keeps: true, sent: mail.SentServer, late: 2, resolved: "sent", letters: 1},
		"the server stores too late":  {keeps: true, sent: mail.SentServer, late: 3, unknown: true, letters: 1},
		"the agent would store it":    {keeps: true, sent: mail.SentAppend, unknown: true, letters: 2},
		"nobody stores":               {keeps: true, sent: mail.SentNone, unknown: true, letters: 2},
		"the folder is out of reach":  {keeps: true, sent: mail.SentServer, err: errors.New("BYE"), unknown: true, letters: 2},
		"lost, and the agent stores":  {sent: mail.SentAppend, unknown: true, letters: 1},
		"lost, and out of reach":      {sent: mail.SentServer, err: errors.New("BYE"), unknown: true, letters: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, smtpsink.Config{OnMessage: cutFirst(test.keeps)})
			box := &outbox{findError: test.err, late: test.late}
			if test.sent == mail.SentServer {
				box.stored = sink.Messages
			}
			agent := newAgent(t, sink, func(a *mail.Account) { a.Outbox, a.Sent = box, test.sent })
			request := requestWith(t, newAnswer())
			result, err := agent.Handle(t.Context(), request, ignore)
			if test.resolved != "" {
				if err != nil || receiptOf(t, result).Resolved != test.resolved {
					t.Errorf("result %s, %v", result.Data, err)
				}
				return
			}
			if failure := asFailure(t, err); failure.Unknown != test.unknown || failure.Permanent {
				t.Errorf("unknown %v, permanent %v: %v", failure.Unknown, failure.Permanent, err)
			}
			request.Attempt = 2
			if _, err := agent.Handle(t.Context(), request, ignore); err != nil {
				t.Fatal(err)
			}
			if got := len(sink.Messages()); got != test.letters {
				t.Errorf("%d letters, want %d", got, test.letters)
			}
		})
	}
}

// What an earlier attempt has sent is not sent again: nobody asks for a permit, and
// the server is not called.
func TestASecondAttemptLooksBeforeItSends_I25(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	box := &outbox{}
	tested := newAgent(t, sink, func(a *mail.Account) { a.Outbox = box })
	request := requestWith(t, newAnswer())
	result, err := tested.Handle(t.Context(), request, ignore)
	if receipt := receiptOf(t, result); err != nil || receipt.Sent != "appended" || receipt.Resolved != "" || box.found.Load() != 0 {
		t.Fatalf("%s, looked %d times, %v", result.Data, box.found.Load(), err)
	}
	if kept := sink.Messages(); len(box.letters) != 1 || len(kept) != 1 || !bytes.Equal(box.letters[0], kept[0].Data) {
		t.Errorf("the folder has %d letters, and %d were sent, or they differ", len(box.letters), len(kept))
	}
	for name, again := range map[string]func(*agent.Request){
		"second attempt":      func(r *agent.Request) { r.Attempt = 2 },
		"handed out again":    func(r *agent.Request) { r.Deliveries = 2 },
		"maybe not the first": func(r *agent.Request) { r.Deliveries = 0 },
	} {
		changed := *request
		again(&changed)
		repeated := changed.WithPermit(func(context.Context) error { return errors.New("it is asked") })
		result, err := tested.Handle(t.Context(), repeated, ignore)
		if err != nil || receiptOf(t, result).Resolved != "sent" || len(sink.Messages()) != 1 || len(box.letters) != 1 {
			t.Errorf("%s: %s, %v, %d letters", name, result.Data, err, len(sink.Messages()))
		}
	}
}

// TestEveryAttemptIsOneLetter_I25: a letter has the id that its account signs, and is
// found in the folder by what the id begins with, also when the key was renewed between
// two attempts, or when the first was made before letters were signed.
func TestEveryAttemptIsOneLetter_I25(t *testing.T) {
	t.Parallel()
	sign := func(mac string) func(*mail.Account) {
		return func(a *mail.Account) {
			a.Sign = func(effect string, letter schemas.Letter) (string, error) {
				return effect + "." + letter.Run + "." + mac, nil
			}
		}
	}
	for name, first := range map[string]func(*mail.Account){
		"the same key": sign("mac"), "another key": sign("before"), "not signed": func(*mail.Account) {},
	} {
		sink, box := startSink(t, smtpsink.Config{}), &outbox{}
		with := func(a *mail.Account) { a.Outbox = box }
		request := requestWith(t, newAnswer())
		if _, err := newAgent(t, sink, with, first).Handle(t.Context(), request, ignore); err != nil {
			t.Fatal(err)
		}
		request.Attempt = 2
		result, err := newAgent(t, sink, with, sign("mac")).Handle(t.Context(), request, ignore)
		if err != nil || receiptOf(t, result).Resolved != "sent" || len(sink.Messages()) != 1 {
			t.Errorf("%s: %s, %v, %d letters", name, result.Data, err, len(sink.Messages()))
		}
		if got, want := receiptOf(t, result).MessageID, effect+".run-1.mac@praxis.example"; got != want {
			t.Errorf("%s: the letter is %s", name, got)
		}
	}
	sink := startSink(t, smtpsink.Config{})
	agent := newAgent(t, sink, func(a *mail.Account) {
		a.Sign = func(string, schemas.Letter) (string, error) { return "", errors.New("no run of ours") }
	})
	if result, err := agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore); err != nil || receiptOf(t, result).MessageID != effect+"@praxis.example" {
		t.Errorf("what cannot be signed: %s, %v", result.Data, err)
	}
}

// A folder that takes nothing fails no delivery, and no log line says whose it was.
func TestAFailingFolderFailsNoDelivery(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	sink := startSink(t, smtpsink.Config{})
	agent, err := mail.New(mail.Config{Log: zerolog.New(&log), Accounts: map[string]mail.Account{"support": {
		Host: sink.Host(), Port: sink.Port(), TLS: mail.TLSNone, From: "a@praxis.example",
		Outbox: &outbox{appendError: errors.New("NO [OVERQUOTA]")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := agent.Handle(t.Context(), requestWith(t, newAnswer()), ignore)
	if err != nil || receiptOf(t, result).Sent != "append_failed" || len(sink.Messages()) != 1 {
		t.Errorf("%s, %v", result.Data, err)
	}
	if line := log.String(); !strings.Contains(line, "OVERQUOTA") || strings.Contains(line, "joerg") || strings.Contains(line, effect) {
		t.Errorf("log %s", line)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, sent := range []mail.Sent{mail.SentAppend, "maybe"} {
		_, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": {Host: "h", From: "a@b.example", Sent: sent}}})
		if err == nil {
			t.Errorf("%s without a folder is taken", sent)
		}
	}
}
