package memory

import "strings"

// Match reports whether a subject is one that the pattern names: "*" stands for
// one token and a final ">" for one or more.
func Match(pattern, subject string) bool {
	for {
		want, patternRest, patternMore := strings.Cut(pattern, ".")
		if want == ">" && !patternMore {
			return subject != ""
		}
		have, subjectRest, subjectMore := strings.Cut(subject, ".")
		if have == "" || want != "*" && want != have {
			return false
		}
		if patternMore != subjectMore {
			return false
		}
		if !patternMore {
			return true
		}
		pattern, subject = patternRest, subjectRest
	}
}

// MatchAny reports whether one of the patterns names the subject; no pattern names all.
func MatchAny(patterns []string, subject string) bool {
	for _, pattern := range patterns {
		if Match(pattern, subject) {
			return true
		}
	}
	return len(patterns) == 0
}
