package route_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"podium/schemas"
	"podium/supervisor/route"
)

// TestStories runs every file of testdata/stories, each named by the
// requirements that it shows. A file says which profile it is about; the rest
// is what a person would type and what comes of it.
func TestStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			var router *route.Router
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				if d.Cmd == "profile" {
					router = profileNamed(t, d.CmdArgs[0].Key)
					return ""
				}
				return tell(t, router, d)
			})
		})
	}
}

func profileNamed(tb testing.TB, name string) *route.Router {
	tb.Helper()
	router, err := route.Compile(profileOf(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	return router
}

func profileOf(tb testing.TB, name string) *schemas.Profile {
	tb.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "profiles", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var profile schemas.Profile
	if err := schemas.Unmarshal(body, &profile); err != nil {
		tb.Fatal(err)
	}
	return &profile
}

func tell(t *testing.T, router *route.Router, d *datadriven.TestData) string {
	t.Helper()
	input := strings.ReplaceAll(d.Input, "<blank>", "")
	switch d.Cmd {
	case "agents": // one text a line
		var out strings.Builder
		for text := range strings.SplitSeq(d.Input, "\n") {
			decision, decided := router.Decide(text, "")
			if !decided {
				decision.NextAgent = "nobody"
			}
			fmt.Fprintf(&out, "%-16s %s\n", decision.NextAgent, text)
		}
		return out.String()
	case "route", "explain":
		var assigned string
		d.MaybeScanArgs(t, "assigned", &assigned)
		ask := router.Decide
		if d.Cmd == "explain" {
			ask = router.Explain
		}
		decision, decided := ask(input, assigned)
		return decisionText(decision, decided)
	case "need", "decide":
		text, evidence := heard(t, d)
		var assigned string
		d.MaybeScanArgs(t, "assigned", &assigned)
		need := router.Need(text, assigned, evidence)
		if d.Cmd == "need" {
			return needText(need)
		}
		if !need.Empty() {
			t.Fatalf("%s: more has to be asked: %s", d.Pos, needText(need))
		}
		return decisionText(router.DecideWith(text, assigned, evidence))
	case "complex": // one text a line
		var out strings.Builder
		for text := range strings.SplitSeq(d.Input, "\n") {
			c := router.AssessComplexity(text)
			answer := "single"
			if c.Complex {
				answer = "plan"
			}
			fmt.Fprintf(&out, "%-6s %s | %s\n", answer, text, told(c.Reasons))
		}
		return out.String()
	case "steps":
		c := router.AssessComplexity(input)
		var out strings.Builder
		fmt.Fprintf(&out, "complex %t: %s\n", c.Complex, told(c.Reasons))
		for i, step := range router.Steps(input) {
			decision, _ := router.Decide(step.Text, "")
			fmt.Fprintf(&out, "%d. [%d:%d] %s: %q\n", i+1, step.Start, step.End, decision.NextAgent, step.Text)
		}
		return out.String()
	}
	t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return ""
}

// heard reads a text and, from lines such as "~ anna assesses: 0.7", "~ anna is
// silent", "~ oracle chooses: RESPOND" and "~ oracle does not choose", what
// agents have answered.
func heard(t *testing.T, d *datadriven.TestData) (text string, evidence route.Evidence) {
	t.Helper()
	for line := range strings.SplitSeq(d.Input, "\n") {
		said, isSaid := strings.CutPrefix(line, "~ ")
		agent, said, _ := strings.Cut(said, " ")
		verb, answer, _ := strings.Cut(said, ": ")
		result := schemas.Result{Text: strings.ReplaceAll(answer, "<br>", "\n")}
		switch {
		case !isSaid:
			text = strings.TrimPrefix(text+"\n"+line, "\n")
		case verb == "assesses":
			score, err := route.ParseAssessment(result)
			evidence.Assessments = append(evidence.Assessments, schemas.Assessment{Agent: agent, Score: score, Answered: err == nil})
		case verb == "is silent":
			evidence.Assessments = append(evidence.Assessments, schemas.Assessment{Agent: agent})
		case verb == "chooses":
			choice := route.Choice{Agent: agent, Answered: true}
			if decision, err := route.ParseDecision(result); err == nil {
				choice.Said = decision
			}
			evidence.Choices = append(evidence.Choices, choice)
		case verb == "does not choose":
			evidence.Choices = append(evidence.Choices, route.Choice{Agent: agent})
		default:
			t.Fatalf("%s: cannot read %q", d.Pos, line)
		}
	}
	return text, evidence
}

func needText(need route.Need) string {
	switch {
	case need.Empty():
		return "nothing"
	case need.Choose != "":
		return fmt.Sprintf("%s chooses, within %s", need.Choose, need.Deadline)
	}
	return fmt.Sprintf("%s assess themselves, within %s", strings.Join(need.Assess, ", "), need.Deadline)
}

func decisionText(d schemas.RouteDecision, decided bool) string {
	var out strings.Builder
	if decided {
		fmt.Fprintf(&out, "%s, by %s", d.NextAgent, d.Router)
	} else {
		fmt.Fprint(&out, "nobody")
	}
	if d.Ambiguous {
		fmt.Fprint(&out, ", ambiguous")
	}
	if d.Degraded {
		fmt.Fprint(&out, ", degraded")
	}
	if d.Response != "" {
		fmt.Fprintf(&out, ", response: %s", d.Response)
	}
	fmt.Fprintln(&out)
	fmt.Fprintln(&out, told(d.Reasons))
	for _, c := range d.Candidates {
		fmt.Fprintf(&out, "- %s (%s %s) score %v rank %d", c.Agent, c.Router, c.Group, c.Score, c.Rank)
		if len(c.Lost) > 0 {
			fmt.Fprintf(&out, ", lost: %s", told(c.Lost))
		}
		if c.Said != "" {
			fmt.Fprintf(&out, ", said: %s", c.Said)
		}
		fmt.Fprintln(&out)
		for _, m := range c.Matches {
			fmt.Fprintf(&out, "    %q as %q at [%d:%d]\n", m.Keyword, m.Text, m.Start, m.End)
		}
	}
	return out.String()
}
