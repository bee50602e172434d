package embedded

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

const (
	alphaKey = "UAHJLSMYZDJCBHQ2SARL37IEALR3TI7VVPZ2MJ7F4SZKNOG7HJJIYW5T"
	nobody   = "UBHJLSMYZDJCBHQ2SARL37IEALR3TI7VVPZ2MJ7F4SZKNOG7HJJIYW5T"
)

// TestLogNamesAgentAndSubject_G37: what a client did against its permissions is told
// with the agent, by its key, and the subject, as far as that is made of Podium's own
// words: what else the client chose is not.
func TestLogNamesAgentAndSubject_G37(t *testing.T) {
	t.Parallel()
	const from = `127.0.0.1:44 - cid:7 - "v1.55.0:go:podium agent x" - "AGENTS/nkey:` + alphaKey + `" - `
	for name, test := range map[string]struct {
		format         string
		args           []any
		agent, subject string
	}{
		"publish":                 {from + "Publish Violation - Subject %q", []any{"podium.agent.beta.response.0"}, "alpha", "podium.agent.beta.response.0"},
		"bytes":                   {from + "Publish Violation - Subject %q", []any{[]byte("podium.control.3")}, "alpha", "podium.control.3"},
		"reply":                   {from + "Publish Violation - Reply %q", []any{"_INBOX_beta.x"}, "alpha", "_INBOX_beta.…"},
		"subscription":            {from + `Subscription Violation - Subject "podium.agent.*.request", SID 3`, nil, "alpha", "podium.agent.*.request"},
		"the server's own":        {from + "Publish Violation - Subject %q", []any{"$JS.API.STREAM.DELETE.PODIUM_0"}, "alpha", "$JS.API.STREAM.DELETE.PODIUM_0"},
		"a session":               {from + "Publish Violation - Subject %q", []any{"podium.session.0.frieda-mustermann"}, "alpha", "podium.session.0.…"},
		"words of its own":        {from + "Publish Violation - Subject %q", []any{"frieda.mustermann@example.org"}, "alpha", "….….…"},
		"a percent sign":          {from + `Subscription Violation - Subject "frieda%s", SID 3`, nil, "alpha", "…"},
		"an agent nobody knows":   {from + "Publish Violation - Subject %q", []any{"podium.agent.frieda.response.0"}, "alpha", "podium.agent.….response.0"},
		"a key nobody knows":      {strings.Replace(from, alphaKey, nobody, 1) + "Publish Violation - Subject %q", []any{"podium.control.0"}, "", "podium.control.0"},
		"a name that looks right": {`127.0.0.1:44 - cid:7 - "v1.55.0:go:frieda\" - \"AGENTS/nkey:` + alphaKey + `\" - x" - "AGENTS/nkey:` + nobody + `" - Publish Violation - Subject %q`, []any{"podium.control.0"}, "", "podium.control.0"},
		"endless":                 {from + "Publish Violation - Subject %q", []any{strings.Repeat("podium.", 1000)}, "alpha", strings.Repeat("podium.", 16) + "…"},
		"refused":                 {`127.0.0.1:44 - cid:7 - %v - %s`, []any{server.ErrAuthentication, `User "frieda"`}, "", ""},
		"often":                   {"%s - %s%s", []any{"127.0.0.1:44 - cid:7", "frieda is slow", " - nkey:" + alphaKey}, "alpha", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var written bytes.Buffer
			log := &serverLog{logger: zerolog.New(&written), names: map[string]string{alphaKey: "alpha", "U2": "beta"}}
			log.Errorf(test.format, test.args...)
			var line struct{ Agent, Subject, Message string }
			if err := json.Unmarshal(written.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if line.Agent != test.agent || line.Subject != test.subject {
				t.Errorf("agent %q, subject %q in %s", line.Agent, line.Subject, written.String())
			}
			if strings.Contains(line.Message, "%") {
				t.Errorf("it is no sentence: %s", line.Message)
			}
			for _, personal := range []string{"frieda", "mustermann", "example", "127.0.0.1"} {
				if strings.Contains(written.String(), personal) {
					t.Errorf("it holds %q: %s", personal, written.String())
				}
			}
		})
	}
}

// TestLogIsNotFlooded: a client that is refused without end fills no disk, hides nothing
// about another one, and what was left out is counted.
func TestLogIsNotFlooded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const from = `127.0.0.1:44 - cid:7 - "v1.55.0:go:x" - "EXTERNAL_alpha/nkey:` + alphaKey + `" - Publish Violation - Subject %q`
		const stranger = `127.0.0.1:44 - cid:8 - authentication error`
		var written bytes.Buffer
		log := &serverLog{logger: zerolog.New(&written), names: map[string]string{alphaKey: "alpha"}}
		lines := func() int { return bytes.Count(written.Bytes(), []byte{'\n'}) }
		for range 10_000 {
			log.Errorf(from, "podium.control.0")
		}
		if got := lines(); got == 0 || got > 100 {
			t.Errorf("%d lines about 10,000 refusals", got)
		}
		before := lines()
		for range 10_000 {
			log.Errorf(stranger)
		}
		if got := lines() - before; got == 0 || got > 100 {
			t.Errorf("%d lines about 10,000 strangers", got)
		}
		before = lines()
		log.Errorf("the disk is full")
		if lines() != before+1 {
			t.Error("a line about the server itself was left out")
		}
		time.Sleep(time.Minute)
		written.Reset()
		log.Errorf(from, "podium.control.0")
		var line struct{ Omitted int }
		if err := json.Unmarshal(written.Bytes(), &line); err != nil || line.Omitted < 9_900 {
			t.Errorf("a minute later: %v, %s", err, written.String())
		}
	})
}

// TestLinesOfEachKindAreBounded: an agent that acknowledges what was never there has the server warn of each, without a word
// of the client. The log has the first of them, and other lines.
func TestLinesOfEachKindAreBounded(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	log := &serverLog{logger: zerolog.New(&written)}
	for n := range 2000 {
		log.Warnf("JetStream consumer '%s > %s > %s' ACK sequence %d past last stream sequence of %d", "CORE", "PODIUM_WORK", "alpha", 1_000_000_000+n, 17)
	}
	log.Errorf("the disk of %s is full", "the stream")
	lines := bytes.Count(written.Bytes(), []byte{'\n'})
	if lines < clientLines+1 || lines > 2*clientLines || !bytes.Contains(written.Bytes(), []byte("is full")) {
		t.Errorf("%d lines:\n%s", lines, written.Bytes())
	}
}
