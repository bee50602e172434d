package route_test

import (
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/route"
)

func word(text string) schemas.Keyword { return schemas.Keyword{Word: text, Mode: schemas.ModeWord} }

func prefix(text string) schemas.Keyword {
	return schemas.Keyword{Word: text, Mode: schemas.ModePrefix}
}

func regex(expression string) schemas.Keyword {
	return schemas.Keyword{Word: expression, Mode: schemas.ModeRegex}
}

// profileWith has the agents red, green and blue.
func profileWith(routers ...schemas.Router) *schemas.Profile {
	return &schemas.Profile{
		Name:    "colors",
		Agents:  []schemas.AgentUse{{Name: "red"}, {Name: "green"}, {Name: "blue"}},
		Routers: routers,
	}
}

func keywords(mode schemas.KeywordOrder, groups ...schemas.KeywordGroup) schemas.Router {
	return schemas.Router{Kind: schemas.RouterKeywords, Mode: mode, Groups: groups}
}

// group is a group with the name of its agent.
func group(agent string, priority int, words ...schemas.Keyword) schemas.KeywordGroup {
	return schemas.KeywordGroup{Name: agent, Agent: agent, Priority: priority, Keywords: words}
}

func compiled(tb testing.TB, p *schemas.Profile) *route.Router {
	tb.Helper()
	router, err := route.Compile(p)
	if err != nil {
		tb.Fatal(err)
	}
	return router
}

func TestCompileNamesEveryFault(t *testing.T) {
	t.Parallel()
	profile := profileWith(
		schemas.Router{Kind: "oracle"},
		keywords("alphabet", group("purple", 0, word("a")), group("", 0), group("red", 0, word("x")), group("red", 0, word("y"))),
		keywords(schemas.OrderPriority, group("red", 0,
			schemas.Keyword{Word: "rot", Mode: "infix"},
			schemas.Keyword{Word: "rosé", Mode: schemas.ModeWord, Except: []string{"blue"}},
			word(" - "),
			word("grün"), prefix("Gruen"),
			regex("r+("), regex("r*"), regex("r+o"), regex("R+O"),
			schemas.Keyword{Word: "Termin", Mode: schemas.ModeCompound, Except: []string{"Terminal"}},
		)),
		keywords(schemas.OrderScore),
		schemas.Router{Kind: schemas.RouterDefault, Agent: "nobody"},
		schemas.Router{Kind: schemas.RouterAssigned},
		schemas.Router{Kind: schemas.RouterAgent, Agent: "No Name", Deadline: -1},
		schemas.Router{Kind: schemas.RouterAgent, Agent: "oracle"},
		schemas.Router{Kind: schemas.RouterAgent, Agent: "oracle"},
		schemas.Router{Kind: schemas.RouterScore, SelfWeight: 1.1, Silent: -0.1, Deadline: -1},
	)
	profile.Agents[1].Capabilities = []schemas.Capability{{Score: 1.1}, {Score: 1, Words: []schemas.Keyword{word(" - ")}}}
	profile.Agents = append(profile.Agents, schemas.AgentUse{Name: "red"}, schemas.AgentUse{Name: "FINISH"}, schemas.AgentUse{})
	profile.Complexity = &schemas.ComplexityRules{
		Verbs:      []schemas.Keyword{word("mix"), {Word: "", Mode: schemas.ModeWord}},
		Patterns:   []string{"ok", "(", `(?<name`},
		Separators: []string{"then", "THEN"},
	}
	profile.Execution.MaxSteps = -1
	_, err := route.Compile(profile)
	if err == nil {
		t.Fatal("compiled")
	}
	got := err.Error()
	for _, want := range []string{
		`profile "colors"`,
		`agents[3]: "red" is listed twice`,
		`agents[4]: "FINISH" is reserved`,
		`agents[5]: no name`,
		`routers[0] (oracle): unknown kind of router`,
		`routers[1] (keywords): unknown mode "alphabet"`,
		`routers[1] (keywords): groups[0] "purple": agent "purple" is not one of the profile's agents`,
		`routers[1] (keywords): groups[1] "": no name`,
		`routers[1] (keywords): groups[1] "": keywords: none configured`,
		`routers[1] (keywords): groups[3] "red": another group has this name`,
		`routers[2] (keywords): groups[0] "red": priority 0, want 1 or more`,
		`routers[2] (keywords): groups[0] "red": keywords[0] "rot": unknown mode "infix"`,
		`keywords[1] "rosé": exception "blue": the keyword would not be found in it`,
		`keywords[2] " - ": nothing to look for`,
		`keywords[4] "Gruen": repeats "grün"`,
		`keywords[5] "r+(": not a regular expression`,
		`keywords[6] "r*": it matches where there is nothing`,
		`keywords[8] "R+O": repeats "r+o"`,
		`keywords[9] "Termin": exception "Terminal": the keyword would not be found in it`,
		`routers[3] (keywords): no keyword groups`,
		`routers[4] (default): agent "nobody" is not one of the profile's agents`,
		`routers[5] (assigned): never asked: a default router comes before it`,
		`routers[6] (agent): agent "No Name" is not the name of an agent`,
		`routers[6] (agent): the deadline is negative`,
		`routers[8] (agent): agent "oracle" is asked by a router before it`,
		`routers[9] (score): self_weight is 1.1, want 0 to 1`,
		`routers[9] (score): silent is -0.1, want 0 to 1`,
		`routers[9] (score): the deadline is negative`,
		`agents[1].capabilities[0]: score is 1.1, want 0 to 1`,
		`agents[1].capabilities[0]: words: none configured`,
		`agents[1].capabilities[1]: words[0] " - ": nothing to look for`,
		`complexity.verbs[1] "": nothing to look for`,
		`complexity.patterns[1] "(": not a regular expression`,
		`complexity.patterns[2] "(?<name": not a regular expression`,
		`complexity.separators[1] "THEN": repeats "then"`,
		`execution.max_steps: -1 is negative`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestCompileRefusesNothing(t *testing.T) {
	t.Parallel()
	if _, err := route.Compile(nil); err == nil {
		t.Error("compiled no profile")
	}
	scored := &schemas.Profile{Routers: []schemas.Router{{Kind: schemas.RouterScore}}}
	if _, err := route.Compile(scored); err == nil || !strings.Contains(err.Error(), "the profile has no agents to score") {
		t.Errorf("compiled a score of nobody: %v", err)
	}
	if _, err := route.Compile(profileWith()); err == nil || !strings.Contains(err.Error(), "routers: none configured") {
		t.Errorf("compiled a profile without routers: %v", err)
	}
}
