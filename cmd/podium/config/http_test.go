package config

import (
	"strings"
	"testing"
)

// TestSourceProblems shows what each mistake about an event source is answered with.
func TestSourceProblems(t *testing.T) {
	t.Parallel()
	tellsProblems(t, "http_problems")
}

// TestHastyCallbacksAreCautioned: whoever may answer hours later and has half a minute is named, unless somebody has said how long it has.
func TestHastyCallbacksAreCautioned(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ agent, deadlines, want string }{
		"by default":              {agent: "office", want: `agent "office" may answer by callback, and has 35s for that in profile "desk"`},
		"another deadline":        {agent: "office", deadlines: "queue: 1h", want: "such as profiles.desk.agents: [{name: office, work: 24h}]"},
		"a call that ends sooner": {agent: "quick", want: `agent "quick" may answer by callback, and has 30s`},
		"here":                    {agent: "office, work: 24h"},
		"in the profile":          {agent: "office", deadlines: "work: 24h"},
		"so meant":                {agent: "office", deadlines: "work: 30s"},
		"by a longer call":        {agent: "patient"},
		"it answers the call":     {agent: "plain"},
	} {
		config, err := parse([]byte(`
agents:
  office: {kind: http, url: "http://127.0.0.1:9/", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, async: true}
  patient: {kind: http, url: "http://127.0.0.1:9/", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, async: true, timeout: 10m}
  quick: {kind: http, url: "http://127.0.0.1:9/", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, async: true, timeout: 5s}
  plain: {kind: http, url: "http://127.0.0.1:9/"}
  echo: {kind: echo}
profiles:
  desk: {agents: [echo, {name: `+test.agent+`}], deadlines: {`+test.deadlines+`}, routers: [{kind: default, agent: echo}]}
`), "podium.yaml", lookup)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if cautions := strings.Join(config.Cautions(), "\n"); (cautions == "") != (test.want == "") || !strings.Contains(cautions, test.want) {
			t.Errorf("%s: %q, want %q", name, cautions, test.want)
		}
	}
}
