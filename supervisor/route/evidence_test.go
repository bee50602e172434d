package route_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/route"
)

// asking has every kind of router: red and green are described, blue is not.
func asking() *schemas.Profile {
	profile := profileWith(
		keywords(schemas.OrderConfigured, group("blue", 0, word("blue"))),
		schemas.Router{Kind: schemas.RouterAgent, Agent: "first"},
		schemas.Router{Kind: schemas.RouterScore, Least: 0.2, Deadline: schemas.Duration(time.Second)},
		schemas.Router{Kind: schemas.RouterAgent, Agent: "last", Deadline: schemas.Duration(3 * time.Second)},
		schemas.Router{Kind: schemas.RouterDefault, Agent: "blue"},
	)
	for i := range profile.Agents {
		profile.Agents[i].Kinds = []schemas.RequestKind{schemas.KindWork, schemas.KindAssess}
	}
	profile.Agents[0].Description = "Paints walls and the roofs."
	profile.Agents[1].Description = "Paints gardens; calculates Bäume"
	profile.Languages = []schemas.Language{{Tag: "en", Markers: []string{"the", "für"}}}
	return profile
}

func assessed(agent string, score float64) schemas.Assessment {
	return schemas.Assessment{Agent: agent, Score: score, Answered: true}
}

func chosen(agent, next string) route.Choice {
	return route.Choice{Agent: agent, Answered: true, Said: route.Said{NextAgent: next, Response: "hello"}}
}

// TestNeed_P09_G31 asks step by step, as a run does.
func TestNeed_P09_G31(t *testing.T) {
	t.Parallel()
	router := compiled(t, asking())
	silent := []schemas.Assessment{{Agent: "red"}, assessed("green", 0.1), {Agent: "blue"}}
	first := route.Choice{Agent: "first"}
	for _, test := range []struct {
		text     string
		evidence route.Evidence
		want     route.Need
		decided  string // when nothing is needed
	}{
		{"blue", route.Evidence{}, route.Need{}, "blue by keywords, degraded false"},
		{"sing", route.Evidence{}, route.Need{Choose: "first", Deadline: route.DefaultChoiceDeadline}, ""},
		{"sing", route.Evidence{Choices: []route.Choice{chosen("first", "GREEN")}}, route.Need{}, "green by agent, degraded false"},
		{"sing", route.Evidence{Choices: []route.Choice{first}}, route.Need{Assess: []string{"red", "green", "blue"}, Deadline: time.Second}, ""},
		{
			"sing",
			route.Evidence{Choices: []route.Choice{first}, Assessments: silent[:2]},
			route.Need{Assess: []string{"blue"}, Deadline: time.Second},
			"",
		},
		{
			"paint",
			route.Evidence{Choices: []route.Choice{first}, Assessments: silent},
			route.Need{},
			"green by score, degraded true",
		},
		{
			"sing",
			route.Evidence{Choices: []route.Choice{first}, Assessments: silent},
			route.Need{Choose: "last", Deadline: 3 * time.Second},
			"",
		},
		{
			"sing",
			route.Evidence{Choices: []route.Choice{first, {Agent: "last", Answered: true}}, Assessments: silent},
			route.Need{},
			"blue by default, degraded true",
		},
	} {
		need := router.Need(test.text, "", test.evidence)
		if fmt.Sprint(need) != fmt.Sprint(test.want) || need.Empty() != test.want.Empty() {
			t.Errorf("%q, %+v: needs %+v, want %+v", test.text, test.evidence, need, test.want)
			continue
		}
		if !need.Empty() {
			continue
		}
		d, _ := router.DecideWith(test.text, "", test.evidence)
		if got := fmt.Sprintf("%s by %s, degraded %t", d.NextAgent, d.Router, d.Degraded); got != test.decided {
			t.Errorf("%q, %+v: %s, want %s. %s", test.text, test.evidence, got, test.decided, told(d.Reasons))
		}
	}
}

func TestNeedIsEmptyWithoutAskingRouters(t *testing.T) {
	t.Parallel()
	router := compiled(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, word("x"))), schemas.Router{Kind: schemas.RouterAssigned}))
	if need := router.Need("nobody takes this", "", route.Evidence{}); !need.Empty() {
		t.Errorf("it needs %+v", need)
	}
	words := profileWith(schemas.Router{Kind: schemas.RouterScore, KeywordWeight: 1})
	if need := compiled(t, words).Need("text", "", route.Evidence{}); !need.Empty() {
		t.Errorf("assessments that weigh nothing are asked: %+v", need)
	}
}

// TestOnlyWhoDeclaresItIsAsked: an agent without KindAssess is not asked how well it
// could do a task; its capabilities say so, and whatever an answer says in its name
// does not. Profiles of before kinds were declared go on asking everybody.
func TestOnlyWhoDeclaresItIsAsked_P06_P07_P09(t *testing.T) {
	t.Parallel()
	work, both := []schemas.RequestKind{schemas.KindWork}, []schemas.RequestKind{schemas.KindAssess, schemas.KindWork}
	sky := []schemas.Capability{{Words: []schemas.Keyword{word("sky")}, Score: 0.9}, {Words: []schemas.Keyword{prefix("sk")}, Score: 0.4}}
	for _, test := range []struct {
		name         string
		kinds        []schemas.RequestKind // of all but blue
		capabilities []schemas.Capability  // of red
		asked        []string
		want         string
	}{
		{"nobody is asked", work, sky, nil, "red 0.54, green 0.15, blue 0.15"},
		{"nobody has anything to say", work, nil, nil, "red 0.15, green 0.15, blue 0.15"},
		{"who is asked speaks for itself", both, sky, []string{"red", "green"}, "green 0.12, red 0.06, blue 0.15"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			profile := asking()
			profile.Routers = []schemas.Router{{Kind: schemas.RouterScore, Silent: 0.25}}
			for i := range profile.Agents {
				profile.Agents[i].Kinds = test.kinds
			}
			profile.Agents[0].Capabilities, profile.Agents[2].Kinds = test.capabilities, work
			router := compiled(t, profile)
			if need := router.Need("sky", "", route.Evidence{}); !slices.Equal(need.Assess, test.asked) {
				t.Errorf("it needs %+v, want %v", need, test.asked)
			}
			evidence := route.Evidence{Assessments: []schemas.Assessment{assessed("red", 0.1), assessed("green", 0.2), assessed("blue", 1)}}
			d, _ := router.DecideWith("sky", "", evidence)
			var scores []string
			for _, c := range d.Candidates {
				scores = append(scores, fmt.Sprintf("%s %v", c.Agent, c.Score))
			}
			slices.Sort(scores)
			wanted := strings.Split(test.want, ", ")
			slices.Sort(wanted)
			if !slices.Equal(scores, wanted) || d.Degraded {
				t.Errorf("%v, want %v, degraded %t. %s", scores, wanted, d.Degraded, told(d.Reasons))
			}
		})
	}
}

// TestScore_P06_P08 decides by one score router alone.
func TestScore_P06_P08(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		router         schemas.Router
		text, assigned string
		red, green     float64 // assessments; negative is silent
		want           string
	}{
		{"weights of the requirement", schemas.Router{}, "walls", "", 0.5, 0.9, "red 0.7, green 0.54, blue 0"},
		{"weights of the profile", schemas.Router{SelfWeight: 0.2, KeywordWeight: 0.8}, "walls", "", 0.5, 0.9, "red 0.9, green 0.18, blue 0"},
		{"half of the words", schemas.Router{KeywordWeight: 1}, "paint the sky", "", 0, 0, "red 0.5, green 0.5, blue 0"},
		{"each word counts once", schemas.Router{KeywordWeight: 1}, "walls, Walls! skies", "", 0, 0, "red 0.5, green 0, blue 0"},
		{"endings and umlauts", schemas.Router{KeywordWeight: 1}, "Calculation für Baeume", "", 0, 0, "green 1, red 0, blue 0"},
		{"other words", schemas.Router{KeywordWeight: 1}, "paintbrushes calculus wal b 42 the", "", 0, 0, "nobody"},
		{"an unknown silence", schemas.Router{Silent: 0.5}, "sky", "", -1, 0.4, "red 0.3, blue 0.3, green 0.24"},
		{"who answers is before who is silent", schemas.Router{Silent: 0.5}, "sky", "", -1, 0.5, "green 0.3, red 0.3, blue 0.3"},
		{"an assessment beyond 1", schemas.Router{}, "sky", "", 7, -1, "red 0.6, green 0, blue 0"},
		{"the least", schemas.Router{Least: 0.6}, "sky", "", 0.9, 0.9, "nobody"},
		{"at the least", schemas.Router{Least: 0.54}, "sky", "", 0.9, 0.1, "red 0.54, green 0.06, blue 0"},
		{"a suggestion at the floor", schemas.Router{}, "walls gardens", "green", 1, 0.5, "green 0.5, red 0.8, blue 0"},
		{"a suggestion below the floor", schemas.Router{}, "walls gardens", "green", 1, 0.49, "red 0.8, green 0.494, blue 0"},
		{"a floor of the profile", schemas.Router{Floor: 0.1}, "walls", "green", 1, 0.2, "green 0.12, red 1, blue 0"},
		{"a suggestion below the least", schemas.Router{Least: 0.9}, "walls", "green", 1, 0.9, "green 0.54, red 1, blue 0"},
		{"a suggestion is the best", schemas.Router{}, "walls", "red", 0.1, 0.1, "red 0.46, green 0.06, blue 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			profile := asking()
			test.router.Kind = schemas.RouterScore
			profile.Routers = []schemas.Router{test.router}
			evidence := route.Evidence{Assessments: []schemas.Assessment{
				{Agent: "red", Score: test.red, Answered: test.red >= 0},
				{Agent: "green", Score: test.green, Answered: test.green >= 0},
				{Agent: "blue"},
			}}
			router := compiled(t, profile)
			d, decided := router.DecideWith(test.text, test.assigned, evidence)
			got := "nobody"
			if decided {
				var scores []string
				for _, c := range d.Candidates {
					scores = append(scores, fmt.Sprintf("%s %v", c.Agent, c.Score))
				}
				got = strings.Join(scores, ", ")
			}
			if got != test.want {
				t.Errorf("%s, want %s. %s", got, test.want, told(d.Reasons))
			}
			if need := router.Need(test.text, test.assigned, evidence); !need.Empty() {
				t.Errorf("it still needs %+v", need)
			}
		})
	}
}

// TestOverlapIsOfTheRequest: what a person pastes says nothing about the task.
func TestOverlapIsOfTheRequest_P06(t *testing.T) {
	t.Parallel()
	profile := asking()
	profile.Routers = []schemas.Router{{Kind: schemas.RouterScore, KeywordWeight: 1}}
	profile.Complexity = &schemas.ComplexityRules{Verbs: []schemas.Keyword{word("paint"), word("read")}}
	router := compiled(t, profile)
	for text, want := range map[string]string{
		"paint walls":                         "red 1",
		"paint walls: gardens and trees":      "red 1",
		"read this: gardens, calculated":      "",
		"paint the following: walls and cars": "red 0.5",
	} {
		d, decided := router.Decide(text, "")
		got := ""
		if decided {
			got = fmt.Sprintf("%s %v", d.NextAgent, d.Candidates[0].Score)
		}
		if got != want {
			t.Errorf("%q: %q, want %q. %s", text, got, want, told(d.Reasons))
		}
	}
}

// TestClosedSet_O12: no answer of an agent makes another name an agent.
func TestClosedSet_O12(t *testing.T) {
	t.Parallel()
	profile := profileWith(schemas.Router{Kind: schemas.RouterAgent, Agent: "oracle"})
	for _, name := range []string{"hem_agent", "hem-agent", "md_agent", "-", "respond_"} {
		profile.Agents = append(profile.Agents, schemas.AgentUse{Name: name})
	}
	router := compiled(t, profile)
	for said, want := range map[string]string{
		"red":       "red",
		"hem_agent": "hem_agent", // exactly one is named so
		"hem-agent": "hem-agent",
		"HEM Agent": "", // any of two
		"MD-Agent":  "md_agent",
		"mdagent":   "md_agent",
		" RED ":     "red",
		"FINISH":    "FINISH",
		"Finish":    "FINISH",
		"RESPOND":   "RESPOND",
		"respond":   "", // RESPOND or respond_
		"oracle":    "",
		"md":        "",
		"red green": "",
		"_":         "",
		"":          "",
	} {
		d, decided := router.DecideWith("text", "", route.Evidence{Choices: []route.Choice{chosen("oracle", said)}})
		if d.NextAgent != want || decided != (want != "") || d.Degraded == decided {
			t.Errorf("%q: %q, degraded %t, want %q. %s", said, d.NextAgent, d.Degraded, want, told(d.Reasons))
		}
		if (d.Response != "") != (want == schemas.RouteRespond) {
			t.Errorf("%q: response %q", said, d.Response)
		}
	}
}

// TestAnswersStayOutOfReasons: what an agent says may repeat the person's
// words, and reasons may be logged.
func TestAnswersStayOutOfReasons_G37(t *testing.T) {
	t.Parallel()
	router := compiled(t, asking())
	secret := strings.Repeat("Zanzibar ü", 400)
	for _, next := range []string{"red", "RESPOND", secret} {
		choice := chosen("first", next)
		choice.Said.Reasoning, choice.Said.Response = secret, secret
		d, _ := router.DecideWith(secret, secret, route.Evidence{Choices: []route.Choice{choice}})
		if strings.Contains(told(d.Reasons), "anzibar") {
			t.Errorf("%s", told(d.Reasons))
		}
		for _, c := range d.Candidates {
			if len(c.Said) > schemas.SaidLimit || strings.ContainsRune(c.Said, '\ufffd') {
				t.Errorf("%d bytes said: %q", len(c.Said), c.Said)
			}
		}
	}
}

// answers draws what agents may have said, usable or not.
func answers() *rapid.Generator[route.Evidence] {
	score := rapid.OneOf(rapid.SampledFrom([]float64{0, 0.5, 1}), rapid.Float64())
	return rapid.Custom(func(t *rapid.T) route.Evidence {
		var evidence route.Evidence
		for _, agent := range []string{"red", "green", "blue"} {
			if rapid.Bool().Draw(t, "asked") {
				evidence.Assessments = append(evidence.Assessments,
					schemas.Assessment{Agent: agent, Score: score.Draw(t, "score"), Answered: rapid.Bool().Draw(t, "answered")})
			}
		}
		for _, agent := range []string{"first", "last"} {
			if rapid.Bool().Draw(t, "asked") {
				next := rapid.SampledFrom([]string{"red", "Green", "RESPOND", "FINISH", "nobody", ""}).Draw(t, "next")
				choice := chosen(agent, next)
				choice.Answered = rapid.Bool().Draw(t, "answered")
				evidence.Choices = append(evidence.Choices, choice)
			}
		}
		return evidence
	})
}

// TestNeedEnds: whatever agents answer or leave unanswered, asking ends after as
// many steps as there are routers that ask, and a decision of the closed set
// stands at the end.
func TestNeedEnds_P09_G31_O12(t *testing.T) {
	t.Parallel()
	declaring := asking()
	declaring.Agents[1].Kinds = []schemas.RequestKind{schemas.KindWork}
	declaring.Agents[1].Capabilities = []schemas.Capability{{Words: []schemas.Keyword{prefix("gr"), word("sky")}, Score: 0.7}}
	routers := []*route.Router{compiled(t, asking()), compiled(t, declaring)}
	rapid.Check(t, func(t *rapid.T) {
		router := rapid.SampledFrom(routers).Draw(t, "router")
		text, evidence := aText().Draw(t, "text"), answers().Draw(t, "evidence")
		assigned := rapid.SampledFrom([]string{"", "red", "nobody"}).Draw(t, "assigned")
		for range 3 {
			need := router.Need(text, assigned, evidence)
			if need.Empty() {
				break
			}
			if len(need.Assess) > 0 == (need.Choose != "") || need.Deadline <= 0 {
				t.Fatalf("it needs %+v", need)
			}
			for _, agent := range need.Assess {
				evidence.Assessments = append(evidence.Assessments, schemas.Assessment{Agent: agent})
			}
			if need.Choose != "" {
				evidence.Choices = append(evidence.Choices, route.Choice{Agent: need.Choose})
			}
		}
		if need := router.Need(text, assigned, evidence); !need.Empty() {
			t.Fatalf("it still needs %+v", need)
		}
		d, decided := router.DecideWith(text, assigned, evidence)
		if !decided || !slices.Contains([]string{"red", "green", "blue", "RESPOND", "FINISH"}, d.NextAgent) {
			t.Fatalf("decided %t for %q", decided, d.NextAgent)
		}
		winners := 0
		for _, c := range d.Candidates {
			if len(c.Lost) == 0 {
				winners++
				if c.Agent != d.NextAgent || c.Router != d.Router {
					t.Fatalf("%+v did not lose to %s by %s", c, d.NextAgent, d.Router)
				}
			}
		}
		if winners != 1 || d.Response != "" && d.NextAgent != schemas.RouteRespond {
			t.Fatalf("%d winners: %+v", winners, d)
		}
		body := canonical(t, d)
		if err := schemas.Validate("route_decision", body); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
	})
}

// TestEvidenceOfNobodyIsDecide: without evidence, and where it is not needed,
// DecideWith and Decide are one.
func TestEvidenceOfNobodyIsDecide(t *testing.T) {
	t.Parallel()
	with, without := compiled(t, asking()), compiled(t, propertyProfile())
	rapid.Check(t, func(t *rapid.T) {
		text := aText().Draw(t, "text")
		plain, _ := with.Decide(text, "")
		none, _ := with.DecideWith(text, "", route.Evidence{})
		if !bytes.Equal(canonical(t, plain), canonical(t, none)) || plain.Degraded {
			t.Fatalf("%+v\n%+v", plain, none)
		}
		evidence := answers().Draw(t, "evidence")
		plain, _ = without.Decide(text, "")
		unneeded, _ := without.DecideWith(text, "", evidence)
		if !bytes.Equal(canonical(t, plain), canonical(t, unneeded)) {
			t.Fatalf("%+v\n%+v", plain, unneeded)
		}
	})
}
