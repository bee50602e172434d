package route_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/route"
)

// benchModes are the modes that the automaton serves, so that their share of the
// keywords is equal.
func benchModes() []schemas.KeywordMode {
	return []schemas.KeywordMode{
		schemas.ModePrefix, schemas.ModeWord, schemas.ModeSuffix, schemas.ModeCompound, schemas.ModeSubstring,
	}
}

// benchProfile has as many keywords as asked for, ten in each group. Few of them
// occur in benchText, most share beginnings with its words.
func benchProfile(keywords int, modes ...schemas.KeywordMode) *schemas.Profile {
	profile := &schemas.Profile{Name: "bench"}
	router := schemas.Router{Kind: schemas.RouterKeywords, Mode: schemas.OrderPriority}
	stems := []string{"energ", "measure", "station", "overview ", "conduct", "bühne", "tempo", "re", "orchestr", "str"}
	for i := range keywords {
		if i%10 == 0 {
			name := fmt.Sprintf("agent%d", i/10)
			profile.Agents = append(profile.Agents, schemas.AgentUse{Name: name})
			router.Groups = append(router.Groups, schemas.KeywordGroup{Name: name, Agent: name, Priority: i/10 + 1})
		}
		group := &router.Groups[i/10]
		word := schemas.Keyword{Word: fmt.Sprintf("%s%c%c%d", stems[i%10], 'a'+i%26, 'a'+i/26%26, i), Mode: modes[i%len(modes)]}
		group.Keywords = append(group.Keywords, word)
	}
	router.Groups[0].Keywords[0].Word = "conductor"
	profile.Routers = []schemas.Router{router}
	return profile
}

func benchText(size int) string {
	const words = "The energy of the stations was measured again; please send an overview to the conductor, " +
		"who rehearses on the Bühne in the evening at 19:30. Strings first, über alles andere reden wir später.\n"
	return strings.Repeat(words, size/len(words)+1)[:size]
}

func BenchmarkDecide(b *testing.B) {
	text := benchText(4 << 10)
	for _, keywords := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprintf("keywords=%d", keywords), func(b *testing.B) {
			router, err := route.Compile(benchProfile(keywords, schemas.ModePrefix))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, decided := router.Decide(text, ""); !decided {
					b.Fatal("nobody decided")
				}
			}
		})
	}
}

// TestDecisionIsAsLargeAsItsText_G31: without a model, what a decision takes grows with the text and with what is found in it, not with its square,
// and hardly with the number of keywords. How long that is depends on the machine: podium-bench route says the 99th percentile. What asks a model
// ends by a deadline with a way out (TestNeedEnds_P09_G31_O12).
func TestDecisionIsAsLargeAsItsText_G31(t *testing.T) { //nolint:paralleltest // allocations of other tests would count
	measure := func(keywords, size int) float64 {
		t.Helper()
		router, err := route.Compile(benchProfile(keywords, benchModes()...))
		if err != nil {
			t.Fatal(err)
		}
		text := benchText(size)
		return testing.AllocsPerRun(3, func() {
			if _, decided := router.Decide(text, ""); !decided {
				t.Fatal("nobody decided")
			}
		})
	}
	once := measure(1000, 4<<10)
	if tenfold := measure(1000, 40<<10); tenfold > 12*once {
		t.Errorf("a text of ten times the size takes %g allocations, and one of 4 KiB %g", tenfold, once)
	}
	if more := measure(10000, 4<<10); more > 2*once {
		t.Errorf("ten times as many keywords take %g allocations, and 1,000 %g", more, once)
	}
}

// BenchmarkDecideModes has keywords of every mode that occur often in the text:
// parts of words, of which few count.
func BenchmarkDecideModes(b *testing.B) {
	text := benchText(4 << 10)
	for _, expressions := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("keywords=1000,expressions=%d", expressions), func(b *testing.B) {
			profile := benchProfile(1000, benchModes()...)
			for i, word := range []string{"tion", "ener", "sent", "ing", "re", "st", "uct", "er", "ver", "ue"} {
				group := &profile.Routers[0].Groups[i]
				group.Keywords = append(group.Keywords, schemas.Keyword{Word: word, Mode: benchModes()[i%len(benchModes())]})
				if i < expressions {
					group.Keywords = append(group.Keywords, schemas.Keyword{Word: word + `\d+`, Mode: schemas.ModeRegex})
				}
			}
			router, err := route.Compile(profile)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, decided := router.Decide(text, ""); !decided {
					b.Fatal("nobody decided")
				}
			}
		})
	}
}

// BenchmarkScore weighs ten agents, each described by twenty words.
func BenchmarkScore(b *testing.B) {
	profile := &schemas.Profile{Name: "bench", Routers: []schemas.Router{{Kind: schemas.RouterScore}}}
	text := benchText(4 << 10)
	words := strings.Fields(text)[:200]
	var evidence route.Evidence
	for i := range 10 {
		name := fmt.Sprintf("agent%d", i)
		profile.Agents = append(profile.Agents, schemas.AgentUse{Name: name, Description: strings.Join(words[20*i:20*(i+1)], " ")})
		evidence.Assessments = append(evidence.Assessments, schemas.Assessment{Agent: name, Score: float64(i) / 10, Answered: true})
	}
	router, err := route.Compile(profile)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, decided := router.DecideWith(text, "", evidence); !decided {
			b.Fatal("nobody decided")
		}
	}
}

func BenchmarkSteps(b *testing.B) {
	router := profileNamed(b, "demo")
	text := "Calculate (12.5*8)/4 and then summarize this. " + benchText(4<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if len(router.Steps(text)) != 2 {
			b.Fatal("not split")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	profile := benchProfile(1000, benchModes()...)
	for b.Loop() {
		if _, err := route.Compile(profile); err != nil {
			b.Fatal(err)
		}
	}
}
