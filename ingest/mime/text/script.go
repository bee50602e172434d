package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scriptKind says whether words are raised or lowered.
type scriptKind byte

const (
	scriptNone scriptKind = iota
	scriptRaised
	scriptLowered
)

// A scriptID tells raised or lowered words from those around them: how many elements
// that raise or lower stand around them, and what the innermost does.
type scriptID struct {
	kind  scriptKind
	depth int
}

// A scriptRun is raised or lowered words while they are written.
type scriptRun struct {
	id       scriptID
	footnote bool
	before   rune // what stands directly before; 0 is nothing or a blank
	start    int  // where they begin, with their prefix
	prefix   int  // bytes of the prefix that was written at their beginning
}

// A power is where raised words stand, with their prefix.
type power struct{ start, end int }

const maxScript = 64 // bytes of raised or lowered words that are looked at as a whole

// startScript begins raised or lowered words. What joins a number to them is written at
// once, for words that become too long to be looked at when they end.
func (b *textBuilder) startScript(form wordForm, before rune) {
	b.script = scriptRun{id: form.script, footnote: form.footnote, before: before, start: len(b.out)}
	if form.script.kind == scriptLowered && b.isFraction() {
		b.script.before = 0
		return
	}
	if joinsScript(before) {
		b.script.prefix = 1
		b.out = append(b.out, form.script.scriptSign()...)
	}
}

// isFraction tells whether lowered words follow raised ones behind a slash, as in ¾. The
// raised ones are no power then.
func (b *textBuilder) isFraction() bool {
	last := b.lastPower
	if last.end == 0 || last.end > len(b.out) {
		return false
	}
	if between := string(b.out[last.end:]); between != "/" && between != "\u2044" {
		return false
	}
	if b.out[last.start] == '^' {
		b.out[last.start] = ' '
	}
	return true
}

// endScript ends raised or lowered words; next is the character that follows, or 0.
func (b *textBuilder) endScript(next rune) {
	run := b.script
	if run.id.kind == scriptNone {
		return
	}
	b.script = scriptRun{}
	if b.breaks > 0 || len(b.blanks) > 0 {
		next = 0
	}
	content := string(b.out[run.start+run.prefix:])
	prefix, apart := string(b.out[run.start:run.start+run.prefix]), isWordRune(next)
	if len(content) <= maxScript {
		var suffix string
		prefix, suffix, apart = run.shapeScript(content, next)
		b.out = append(append(append(b.out[:run.start], prefix...), content...), suffix...)
	}
	if apart {
		b.addBlank()
	}
	first, _ := utf8.DecodeRuneInString(content)
	b.hasScripts = b.hasScripts || prefix != "" && (unicode.IsDigit(first) || unicode.IsDigit(run.before))
	if run.id.kind == scriptRaised {
		b.lastPower = power{start: run.start, end: len(b.out)}
	}
}

// shapeScript says what stands around raised or lowered words, so that no number joins
// another one, and whether a blank follows.
func (run *scriptRun) shapeScript(content string, next rune) (prefix, suffix string, apart bool) {
	first, _ := utf8.DecodeRuneInString(content)
	last, _ := utf8.DecodeLastRuneInString(content)
	digits := unicode.IsDigit(last) && unicode.IsDigit(next)
	number, word := isNumber(content), isLetters(content)
	switch {
	case !strings.ContainsFunc(content, isWordRune):
		return "", "", false
	case run.before == 0:
		return "", "", digits
	case run.footnote && isWordRune(first):
		return " [", "]", isWordRune(next)
	case first == '[' || first == '(':
		return " ", "", isWordRune(next)
	case run.id.kind == scriptRaised && number && strings.ContainsRune(".,;:!?\"'”’»", run.before):
		return " [", "]", isWordRune(next)
	case !joinsScript(run.before):
		return "", "", digits
	case run.id.kind == scriptRaised && word && isOrdinal(content):
		return "", "", false
	case run.id.kind == scriptLowered && unicode.IsLetter(run.before) && (number && !digits || word && !isWordRune(next)):
		return "", "", false // H2O
	case number, word, strings.HasPrefix(content, struckMark):
		return run.id.scriptSign(), "", isWordRune(next)
	}
	return run.id.scriptSign() + "(", ")", isWordRune(next)
}

// scriptSign returns what stands before raised or lowered words.
func (id scriptID) scriptSign() string {
	if id.kind == scriptLowered {
		return "_"
	}
	return "^"
}

// joinsScript tells whether a character belongs to what is raised or lowered behind it.
func joinsScript(r rune) bool { return isWordRune(r) || r != 0 && strings.ContainsRune(")]}|%°~", r) }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// isNumber is true of a number, with the sign of an exponent or a charge.
func isNumber(text string) bool {
	const signs = "+-\u2212\u2013"
	text = strings.Trim(text, signs)
	isOther := func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' }
	return text != "" && !strings.ContainsFunc(text, isOther)
}

func isLetters(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isOrdinal tells whether raised letters end a word, as in 5th, 2e and No, and are no
// exponent, as in 2n.
func isOrdinal(letters string) bool {
	return utf8.RuneCountInString(letters) > 1 || strings.Contains("aeodrªº", strings.ToLower(letters))
}
