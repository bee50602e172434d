package sim

import (
	"time"

	"podium/schemas"
)

// profiles are two ways to handle the same words: one with a default agent and
// plans of several steps, one that refuses what it does not know.
func profiles() []schemas.Profile {
	texts := schemas.Texts{
		TaskFailed: "It did not work: {detail}", Timeout: "Nobody answered.", NoRoute: "Nobody is responsible.",
		Cancelled: "Stopped.", Partial: "This much is there:", Empty: "Done.",
	}
	keyword := func(word string) []schemas.Keyword { return []schemas.Keyword{{Word: word, Mode: schemas.ModeWord}} }
	keywords := schemas.Router{Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured, Groups: []schemas.KeywordGroup{
		{Name: "a", Agent: "alpha", Keywords: keyword("alpha")},
		{Name: "b", Agent: "beta", Keywords: keyword("beta")},
	}}
	base := schemas.Profile{
		Agents:    []schemas.AgentUse{{Name: "alpha"}, {Name: "beta", Work: schemas.Duration(10 * time.Second)}, {Name: "gamma"}},
		Retry:     schemas.Retry{Attempts: 2, Wait: schemas.Duration(time.Second)},
		Delivery:  schemas.Retry{Attempts: 20, Wait: schemas.Duration(time.Second)},
		Deadlines: schemas.Deadlines{Queue: schemas.Duration(20 * time.Second), Work: schemas.Duration(30 * time.Second)},
		Languages: []schemas.Language{
			{Tag: "en", Markers: []string{"the", "and", "please"}, Texts: texts},
			{Tag: "de", Markers: []string{"und", "bitte", "der"}, Texts: texts},
		},
	}
	open, strict := base, base
	open.Name, open.Language = "open", schemas.LanguageOfWriter
	open.Routers = []schemas.Router{keywords, {Kind: schemas.RouterDefault, Agent: "gamma"}}
	open.Execution = schemas.Execution{Mode: schemas.ExecutionSequence, MaxSteps: 4}
	open.Complexity = &schemas.Complexities{
		Verbs:      []schemas.Keyword{{Word: "calculate", Mode: schemas.ModeWord}, {Word: "summarize", Mode: schemas.ModeWord}},
		Separators: []string{"then", "and"},
	}
	strict.Name, strict.Language = "strict", "en"
	strict.Routers = []schemas.Router{keywords}
	strict.Execution = schemas.Execution{Mode: schemas.ExecutionSingle}
	return []schemas.Profile{open, strict}
}
