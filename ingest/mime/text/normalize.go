package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"podium/ingest/mime/charset"
)

// Normalize makes lines comparable: form NFC, lower case, single plain blanks, plain
// signs, without blanks and asterisks around, and without blanks before a colon.
func Normalize(line string) string {
	normal := strings.ToLower(norm.NFC.String(line))
	if !charset.IsASCII(normal) {
		normal = plainSigns.Replace(normal)
	}
	if strings.Contains(normal, "&") {
		normal = plainEntities.Replace(normal)
	}
	if strings.Contains(normal, "  ") || strings.Contains(normal, "\t") {
		normal = strings.Join(strings.Fields(normal), " ")
	}
	normal = strings.ReplaceAll(strings.Trim(normal, " \t\r*"), ":*", ":")
	return strings.ReplaceAll(strings.ReplaceAll(normal, "*:", ":"), " :", ":")
}

// plainEntities writes the signs that some programs escape in plain text as well.
var plainEntities = strings.NewReplacer( //nolint:gochecknoglobals // never changed
	"&nbsp;", " ", "&#160;", " ", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&",
)

// plainSigns writes the signs of several alphabets in one way, and leaves out
// those that are not seen.
var plainSigns = strings.NewReplacer( //nolint:gochecknoglobals // never changed
	"\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u3000", " ", "\u200b", "", "\u200e", "", "\u200f", "", "\ufeff", "",
	"\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "",
	"\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "",
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

// trimText takes blanks and empty lines away at both ends. Two blanks or more before the
// first of several lines stay, because they say how far it is indented.
func trimText(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if !strings.Contains(text, "\n") {
		return strings.TrimSpace(text)
	}
	for {
		line, rest, several := strings.Cut(text, "\n")
		if strings.TrimSpace(line) != "" || !several {
			return text[singleBlank(text):]
		}
		text = rest
	}
}

// singleBlank returns the size of the blank with which a text begins, or 0 when it begins
// with several or with none.
func singleBlank(text string) int {
	if strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "  ") && !strings.HasPrefix(text, " \t") {
		return 1
	}
	return 0
}
