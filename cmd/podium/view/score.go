package view

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"podium/supervisor/score"
)

// Score tells how well the runs of a profile went, a line for each measure beside its goal.
func Score(profile *score.Profile) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "profile %s, runs %d\n", Line(profile.Name, 0), profile.Runs)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i := range profile.Measures {
		m := &profile.Measures[i]
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", m.Name, measured(m), goal(m), met(m))
	}
	_ = table.Flush() // a builder takes all
	return b.String()
}

func measured(m *score.Measure) string {
	switch {
	case m.Value == nil:
		return "nothing to measure"
	case m.Unit == score.UnitSeconds:
		return seconds(*m.Value)
	case m.Unit == score.UnitDeviation:
		return fmt.Sprintf("%.4g for %.4g: off by %.1f %%", m.Part, m.Whole, 100**m.Value)
	case m.Item == "M-50":
		return fmt.Sprintf("%s of %s: %.1f %%", seconds(m.Part), seconds(m.Whole), 100**m.Value)
	}
	return fmt.Sprintf("%.0f of %.0f: %.1f %%", m.Part, m.Whole, 100**m.Value)
}

func goal(m *score.Measure) string {
	bound := "at least"
	if m.Most {
		bound = "at most"
	}
	if m.Unit == score.UnitSeconds {
		return bound + " " + seconds(m.Goal)
	}
	return fmt.Sprintf("%s %.0f %%", bound, 100*m.Goal)
}

func met(m *score.Measure) string {
	switch {
	case m.Met == nil:
		return ""
	case *m.Met:
		return "met"
	}
	return "missed"
}

func seconds(n float64) string {
	return time.Duration(n * float64(time.Second)).Round(time.Millisecond).String()
}
