package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"podium/ingest/mime/charset"
)

// A template is a line that a mail program writes: words, and places between
// them for what differs from mail to mail.
type template struct {
	first, last string   // the words before the first place and behind the last
	between     []string // the words behind each place but the last
	slots       []slot
}

// A slot is a place. It says what has to stand there. Each is satisfied by more text as soon
// as it is by less, so the earliest end of a place is as good as any later one,
// and matching never goes back.
type slot byte

const (
	slotAny     slot = iota // anything, or nothing
	slotDate                // holds a digit
	slotTime                // holds a digit
	slotName                // holds a letter or a digit
	slotAddress             // holds an @
)

func slotNames() map[string]slot {
	return map[string]slot{"any": slotAny, "date": slotDate, "time": slotTime, "name": slotName, "address": slotAddress}
}

// end returns the least n for which text[:n] is enough, or -1.
func (p slot) end(text string) int {
	if p == slotAny {
		return 0
	}
	for at, r := range text {
		switch {
		case p == slotAddress && r == '@',
			(p == slotDate || p == slotTime) && r >= '0' && r <= '9',
			p == slotName && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			return at + utf8.RuneLen(r)
		}
	}
	return -1
}

const maxSlots = 8 // of one template

// parseTemplate reads a text such as "On {date}, {name} wrote:".
func parseTemplate(text string) (template, error) {
	var parsed template
	literal, rest := "", Normalize(text)
	for {
		before, behind, open := strings.Cut(rest, "{")
		literal += before
		if !open {
			break
		}
		name, after, closed := strings.Cut(behind, "}")
		kind, known := slotNames()[name]
		switch {
		case !closed:
			return template{}, fmt.Errorf("the place {%s is not closed", shorten(name))
		case !known:
			return template{}, fmt.Errorf("{%s} is no place; there are {date}, {time}, {name}, {address} and {any}", shorten(name))
		case len(parsed.slots) == maxSlots:
			return template{}, fmt.Errorf("there are more than %d places", maxSlots)
		case len(parsed.slots) == 0:
			parsed.first = literal
		case literal == "":
			return template{}, fmt.Errorf("two places stand side by side before {%s}; there have to be words between them", name)
		default:
			parsed.between = append(parsed.between, literal)
		}
		parsed.slots, literal, rest = append(parsed.slots, kind), "", after
	}
	if len(parsed.slots) == 0 {
		parsed.first = literal
	} else {
		parsed.last = literal
	}
	return parsed, nil
}

// matches tells whether a normalized line is such a line. name is what stands at the
// last place for a name, or around it. It reads the line at most twice.
func (t *template) matches(line string) (name string, matched bool) {
	if len(line) < len(t.first)+len(t.last) || !strings.HasPrefix(line, t.first) || !strings.HasSuffix(line, t.last) {
		return "", false
	}
	rest := line[len(t.first) : len(line)-len(t.last)]
	if len(t.slots) == 0 {
		return "", rest == ""
	}
	for i, kind := range t.slots {
		end := kind.end(rest)
		if end < 0 {
			return "", false
		}
		found, size := len(rest)-end, 0
		if i < len(t.between) {
			size = len(t.between[i])
			if found = strings.Index(rest[end:], t.between[i]); found < 0 {
				return "", false
			}
		}
		if kind == slotName {
			name = rest[:end+found]
		}
		rest = rest[end+found+size:]
	}
	return name, true
}

// has tells whether a template has a place of a kind.
func (t *template) has(kind slot) bool { return slices.Contains(t.slots, kind) }

// words returns the words of a template, without what stands at its places.
func (t *template) words() string { return t.first + strings.Join(t.between, " ") + " " + t.last }

// isOpen tells whether anything may stand at the end of a line of the template.
func (t *template) isOpen() bool { return len(t.slots) > 0 && t.last == "" }

// weight says how much the words of a template tell: a letter of an alphabet
// counts one, a character that is a word two.
func (t *template) weight() int {
	total := 0
	for _, r := range t.words() {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			total += 2
		case unicode.IsLetter(r):
			total++
		}
	}
	return total
}

func shorten(text string) string {
	const most = 40
	if len(text) > most {
		return charset.Truncate(text, most) + "…"
	}
	return text
}
