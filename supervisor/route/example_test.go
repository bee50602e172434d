package route_test

import (
	"cmp"
	"fmt"

	"podium/schemas"
	"podium/supervisor/route"
	"podium/supervisor/say"
)

// A decision names the agent, every other candidate with its score and why it lost, and the
// words of the text that spoke for each.
func ExampleRouter_Explain() {
	group := func(name string, words ...string) schemas.KeywordGroup {
		group := schemas.KeywordGroup{Name: name, Agent: name}
		for _, word := range words {
			group.Keywords = append(group.Keywords, schemas.Keyword{Word: word, Mode: schemas.ModePrefix})
		}
		return group
	}
	router, err := route.Compile(&schemas.Profile{
		Name:   "desk",
		Agents: []schemas.AgentUse{{Name: "calculator"}, {Name: "librarian"}, {Name: "clerk"}},
		Routers: []schemas.Router{
			{Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured, Groups: []schemas.KeywordGroup{
				group("calculator", "how many", "add", "sum"), group("librarian", "book", "read"), group("clerk", "stamp"),
			}},
		},
	})
	if err != nil {
		fmt.Println(err)
	}
	decision, decided := router.Explain("Add up the books that I have read", "")
	fmt.Println(decision.NextAgent, decided, decision.Router)
	for _, candidate := range decision.Candidates {
		fmt.Printf("%s, score %.0f: %s\n", candidate.Agent, candidate.Score, cmp.Or(say.Reasons(say.English(), candidate.Lost), "chosen"))
		for _, match := range candidate.Matches {
			fmt.Printf("  %q at %d, by %q\n", match.Text, match.Start, match.Keyword)
		}
	}
	// Output:
	// calculator true keywords
	// calculator, score 1: chosen
	//   "Add" at 0, by "add"
	// librarian, score 2: The place 2 comes after 1.
	//   "books" at 11, by "book"
	//   "read" at 29, by "read"
	// clerk, score 0: None of the keywords was found.
}
