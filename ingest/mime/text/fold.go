package text

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"podium/ingest/mime/charset"
)

// Fold makes lines comparable: form NFC, lower case, single plain blanks, plain
// signs, without blanks and asterisks around, and without blanks before a colon.
func Fold(line string) string {
	folded := strings.ToLower(norm.NFC.String(line))
	if !charset.IsASCII(folded) {
		folded = plainSigns.Replace(folded)
	}
	if strings.Contains(folded, "  ") || strings.Contains(folded, "\t") {
		folded = strings.Join(strings.Fields(folded), " ")
	}
	folded = strings.ReplaceAll(strings.Trim(folded, " \t\r*"), ":*", ":")
	return strings.ReplaceAll(strings.ReplaceAll(folded, "*:", ":"), " :", ":")
}

// plainSigns writes the signs of several alphabets in one way, and leaves out
// those that are not seen.
var plainSigns = strings.NewReplacer( //nolint:gochecknoglobals // never changed
	"\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u3000", " ", "\u200b", "", "\u200e", "", "\u200f", "", "\ufeff", "",
	"\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "«", `"`, "»", `"`, "：", ":", "，", ",", "（", "(", "）", ")",
)

// tidy joins lines, with at most one empty line in a row and none around.
func tidy(lines []string) string {
	var out strings.Builder
	empty := 0
	for _, line := range lines {
		line = strings.TrimRight(line, " \t")
		if line == "" {
			empty++
			continue
		}
		if out.Len() > 0 {
			out.WriteString(strings.Repeat("\n", 1+min(empty, 1)))
		}
		empty = 0
		out.WriteString(line)
	}
	return out.String()
}
