package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/route"
)

// A RouteResult says what one decision by keywords costs.
type RouteResult struct {
	Workload string `json:"workload"`
	Groups   int    `json:"groups"`
	Text     int    `json:"text_bytes"`
	Keywords int    `json:"keywords"`
	// Microseconds of one decision, the median of the rounds, and of building
	// the router, which is done once.
	Decision float64 `json:"us_per_decision"`
	P99      float64 `json:"us_p99"` // of single decisions of all rounds, the 99th percentile (G-31)
	Build    float64 `json:"us_to_build"`
	// The same with more keywords in as many groups.
	MoreKeywords int     `json:"more_keywords"`
	MoreDecision float64 `json:"more_us_per_decision"`
	MoreP99      float64 `json:"more_us_p99"`
	MoreBuild    float64 `json:"more_us_to_build"`
	Ratio        float64 `json:"ratio"` // of a decision with more keywords to one with few
}

const (
	routeGroups   = 100
	routeKeywords = 1000
	moreKeywords  = 10 * routeKeywords
	routeText     = 4 << 10 // bytes
)

// Route measures decisions over 1,000 and over 10,000 keywords in 100 groups on
// a text of 4 KiB, in turn. A round lasts a quarter of Config.Round.
func Route(config Config) (RouteResult, error) {
	result := RouteResult{Workload: Routing, Groups: routeGroups, Text: routeText, Keywords: routeKeywords, MoreKeywords: moreKeywords}
	began := time.Now()
	few, err := route.Compile(routeProfile(routeKeywords))
	if err != nil {
		return result, fmt.Errorf("build the router: %w", err)
	}
	result.Build = microseconds(time.Since(began))
	began = time.Now()
	many, err := route.Compile(routeProfile(moreKeywords))
	if err != nil {
		return result, fmt.Errorf("build the router: %w", err)
	}
	result.MoreBuild = microseconds(time.Since(began))
	text := routeWords(routeText)
	var ours, theirs, oursAlone, theirsAlone []float64
	for range config.Rounds {
		for _, turn := range []struct {
			router       *route.Router
			times, alone *[]float64
		}{{few, &ours, &oursAlone}, {many, &theirs, &theirsAlone}} {
			each, err := decide(turn.router, text, config.Round/4, turn.alone)
			if err != nil {
				return result, err
			}
			*turn.times = append(*turn.times, each)
		}
	}
	result.Decision, result.MoreDecision = middle(ours), middle(theirs)
	result.P99, result.MoreP99 = percentile99(oursAlone), percentile99(theirsAlone)
	result.Ratio = result.MoreDecision / result.Decision
	return result, nil
}

// percentile99 is what 99 of 100 values do not exceed.
func percentile99(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)*99/100]
}

// decide returns the microseconds of one decision, and adds those of each to alone.
func decide(router *route.Router, text string, length time.Duration, alone *[]float64) (float64, error) {
	const batch = 16
	decisions := 0
	began := time.Now()
	for time.Since(began) < length || decisions == 0 {
		for range batch {
			from := time.Now()
			if _, decided := router.Decide(text, ""); !decided {
				return 0, errors.New("the router did not decide")
			}
			*alone = append(*alone, microseconds(time.Since(from)))
		}
		decisions += batch
	}
	return microseconds(time.Since(began)) / float64(decisions), nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// routeProfile has so many keywords, evenly in routeGroups groups. Most share
// beginnings with words of the text, and one occurs in it.
func routeProfile(keywords int) *schemas.Profile {
	profile := &schemas.Profile{Name: profileName}
	router := schemas.Router{Kind: schemas.RouterKeywords, Mode: schemas.OrderPriority, Groups: make([]schemas.KeywordGroup, routeGroups)}
	for i := range router.Groups {
		name := fmt.Sprintf("agent%d", i)
		profile.Agents = append(profile.Agents, schemas.AgentUse{Name: name})
		router.Groups[i] = schemas.KeywordGroup{Name: name, Agent: name, Priority: i + 1}
	}
	stems := []string{"energ", "measure", "station", "overview ", "conduct", "bühne", "tempo", "re", "orchestr", "str"}
	for i := range keywords {
		group := &router.Groups[i%routeGroups]
		word := fmt.Sprintf("%s%c%c%d", stems[i/routeGroups%len(stems)], 'a'+i%26, 'a'+i/26%26, i)
		group.Keywords = append(group.Keywords, schemas.Keyword{Word: word, Mode: schemas.ModePrefix})
	}
	router.Groups[0].Keywords[0].Word = "conductor"
	profile.Routers = []schemas.Router{router}
	return profile
}

func routeWords(size int) string {
	const sentences = "The energy of the stations was measured again; please send an overview to the conductor, " +
		"who rehearses on the Bühne in the evening at 19:30. Strings first, über alles andere reden wir später.\n"
	return strings.ToValidUTF8(strings.Repeat(sentences, size/len(sentences)+1)[:size], "")
}
