package route_test

import (
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/route"
)

// TestSourceBonus_G26: a group counts more, or less, for where a message comes from, once one of its words is there; the reasons say so.
func TestSourceBonus_G26(t *testing.T) {
	t.Parallel()
	word := func(word string) []schemas.Keyword { return []schemas.Keyword{{Word: word, Mode: schemas.ModeWord}} }
	profile := func(mode schemas.KeywordOrder, bonus map[string]int) *schemas.Profile {
		return &schemas.Profile{Name: "p", Agents: []schemas.AgentUse{{Name: "doctor"}, {Name: "writer"}}, Routers: []schemas.Router{{
			Kind: schemas.RouterKeywords, Mode: mode, Groups: []schemas.KeywordGroup{
				{Name: "symptoms", Agent: "doctor", Priority: 1, Keywords: word("itching")},
				{Name: "letters", Agent: "writer", Priority: 2, Keywords: word("answer"), SourceBonus: bonus},
			},
		}}}
	}
	mail := map[string]int{schemas.ChannelEmail: 2}
	for name, c := range map[string]struct {
		mode               schemas.KeywordOrder
		bonus              map[string]int
		source, text, want string
		why                string
	}{
		"nothing is weighed":       {schemas.OrderPriority, nil, schemas.ChannelEmail, "itching, please answer", "doctor", "By its priority 1 it goes before"},
		"mail, by priority":        {schemas.OrderPriority, mail, schemas.ChannelEmail, "itching, please answer", "writer", `By its priority 0 it goes before "symptoms". The source email counts 2 in this.`},
		"mail, by score":           {schemas.OrderScore, mail, schemas.ChannelEmail, "itching, please answer", "writer", `By its score 3 it goes before "symptoms". The source email counts 2 in this.`},
		"from elsewhere":           {schemas.OrderScore, mail, schemas.ChannelChat, "itching, please answer", "doctor", "By its score 1 it goes before"},
		"from nowhere":             {schemas.OrderScore, mail, "", "itching, please answer", "doctor", "By its score 1 it goes before"},
		"none of its words":        {schemas.OrderPriority, mail, schemas.ChannelEmail, "itching", "doctor", "“itching” is a keyword of the group “symptoms”."},
		"less than nothing":        {schemas.OrderScore, map[string]int{schemas.ChannelChat: -1}, schemas.ChannelChat, "answer the itching", "doctor", "By its score 1 it goes before"},
		"a request of a superior":  {schemas.OrderPriority, map[string]int{schemas.ChannelAgent: 9}, schemas.ChannelAgent, "itching, answer", "writer", "The source agent counts 9 in this."},
		"a word of its own weighs": {schemas.OrderScore, mail, schemas.ChannelEmail, "answer", "writer", "“answer” is a keyword of the group “letters”."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router, err := route.Compile(profile(c.mode, c.bonus))
			if err != nil {
				t.Fatal(err)
			}
			evidence := route.Evidence{Source: c.source}
			decided, ok := router.DecideWith(c.text, "", evidence)
			explained, _ := router.ExplainWith(c.text, "", evidence)
			if !ok || decided.NextAgent != c.want || !strings.Contains(told(decided.Reasons), c.why) || explained.NextAgent != c.want {
				t.Errorf("it goes to %q: %s", decided.NextAgent, told(decided.Reasons))
			}
		})
	}
	for name, broken := range map[string]*schemas.Profile{
		"source_bonus weighs nothing in the configured order": profile(schemas.OrderConfigured, mail),
		`"fax" is no source`: profile(schemas.OrderScore, map[string]int{"fax": 1}),
		"want at most 1000":  profile(schemas.OrderScore, map[string]int{schemas.ChannelEmail: 1001}),
	} {
		if _, err := route.Compile(broken); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
