package answer

import (
	"slices"
	"strings"

	"podium/schemas"
)

// maxListed bounds what is told of each sort of finding.
const maxListed = 10

// Findings tells a person what agents have said beside their results: which checks have failed, what they
// have noticed, what they recommend. It is empty when there is nothing, or no words for it.
func Findings(said []schemas.Findings, words Words) string {
	var failed, noticed, advice []string
	for i := range said {
		for _, verdict := range said[i].ValidationResults {
			if verdict.Status != schemas.ValidationFailed {
				continue
			}
			line := strings.ReplaceAll(words.Texts.CheckFailed, "{validator}", oneLine(verdict.Validator))
			if details := oneLine(verdict.Details); details != "" && line != "" {
				line += " " + details
			}
			failed = appendOnce(failed, line)
			for _, issue := range verdict.Issues {
				if issue.Severity == schemas.ValidationError {
					failed = appendOnce(failed, "- "+oneLine(issue.Message))
				}
			}
		}
		for _, issue := range said[i].Issues {
			noticed = appendOnce(noticed, "- "+oneLine(issue.Description))
		}
		for _, recommended := range said[i].Recommendations {
			advice = appendOnce(advice, "- "+oneLine(recommended))
		}
	}
	var parts []string
	if len(failed) > 0 && words.Texts.CheckFailed != "" {
		parts = append(parts, strings.Join(failed, "\n"))
	}
	for _, section := range [...]struct {
		above string
		lines []string
	}{{words.Texts.Findings, noticed}, {words.Texts.Recommendations, advice}} {
		if len(section.lines) > 0 && section.above != "" {
			parts = append(parts, section.above+"\n"+strings.Join(section.lines, "\n"))
		}
	}
	return strings.Join(parts, "\n\n")
}

func appendOnce(lines []string, line string) []string {
	if len(lines) == maxListed || strings.Trim(line, "- ") == "" {
		return lines
	}
	if slices.Contains(lines, line) {
		return lines
	}
	return append(lines, line)
}
