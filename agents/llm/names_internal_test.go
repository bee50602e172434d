package llm

import (
	"strconv"
	"strings"
	"testing"
)

// TestNamesOfAgents: quotes, code marks, stars, blanks and a final point around the name of an agent do not count, in the
// decisions of routers and in the tasks of planners and judges. A name that can be two is none.
func TestNamesOfAgents(t *testing.T) {
	t.Parallel()
	choices := []choice{{Name: "shout"}, {Name: "echo_agent"}, {Name: "RESPOND"}, {Name: "web-search"}, {Name: "web_search"}}
	for written, want := range map[string]string{
		"shout": "shout", "SHOUT": "shout", " shout\n": "shout", "`shout`": "shout", `"shout"`: "shout", "'shout'": "shout", "**shout**": "shout", "shout.": "shout",
		"“shout”": "shout", "„shout“": "shout", "\u00a0shout\u200b": "shout", "`\"shout\".`": "shout", "shout agent": "shout", "Agent: shout": "shout", "@shout": "shout",
		"<shout>": "shout", "[shout]": "shout", "echo": "", "Echo Agent": "echo_agent", "*echo-agent*": "echo_agent", "respond!": "RESPOND",
		"web-search": "web-search", "`web_search`": "web_search", "Web Search": "", "whisper": "", "": "", "agent": "", "shout echo_agent": "",
		"the shout agent": "shout", "The Shout": "shout", "name: shout": "shout", "next_agent = `shout`": "shout", "\"name\": \"shout\"": "shout",
		"assigned_to: the echo agent": "echo_agent", `\"shout\"`: "shout", `\\\"shout\\\"`: "shout", "the web search": "", "name:": "", "the": "",
		"<|shout|>": "shout", "~shout~": "shout", "#shout": "shout", "「shout」": "shout", "1. shout": "shout", "2) `echo agent`": "echo_agent",
		"not shout": "", "the other shout": "", "name: whisper": "",
	} {
		name, known := spelled(written, choices)
		if name != want || known != (want != "") {
			t.Errorf("%q is %q, %t, want %q", written, name, known, want)
		}
		if want == "" {
			continue
		}
		asked := &question{Agents: choices}
		in := func(body string) string {
			return strings.ReplaceAll(body, "NAME", strings.Trim(strconv.Quote(written), `"`))
		}
		for role, body := range map[Role]string{
			RoleRouter:  `{"next_agent":"NAME"}`,
			RolePlanner: `{"tasks":[{"assigned_to":"NAME","description":"d","task_id":"t"}]}`,
			RoleJudge:   `{"response":"","steps":[],"tasks":[{"assigned_to":"NAME","description":"d","task_id":"t"}]}`,
		} {
			shaped, err := (&Agent{config: Config{Role: role}}).shapeOf(asked)
			if err != nil {
				t.Fatal(err)
			}
			value, err := shaped.read(in(body))
			if err != nil || string(value) != strings.ReplaceAll(body, "NAME", want) {
				t.Errorf("%s: %s is read as %s, %v", role, in(body), value, err)
			}
		}
	}
}
