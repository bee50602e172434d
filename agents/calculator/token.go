package calculator

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token is.
type tokenKind int

const (
	tokenOther     tokenKind = iota // anything that is no part of a formula
	tokenNumber                     // value holds it
	tokenAmbiguous                  // a number that may mean two values
	tokenName                       // a word; canonical is in lower case
	tokenOperator                   // canonical is one of + - * / ^ %
	tokenPower                      // canonical is the exponent of a superscript
	tokenOpen                       // (
	tokenClose                      // )
	tokenSeparator                  // , or ;
	tokenAssign                     // = or :
	tokenBreak                      // a blank line or the mark of a list: no formula goes across
)

// A token is one piece of a text.
type token struct {
	kind       tokenKind
	canonical  string
	value      float64
	start, end int // byte offsets
}

var (
	// notNumbers are figures that look like calculations: dates, times, and
	// numbers with a zero in front such as those of telephones.
	notNumbers = regexp.MustCompile(`^(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2}:\d{2}(?::\d{2})?|0\d+)\b`)
	numberRun  = regexp.MustCompile(`^(?:\d+(?:[.,'’\x{a0}\x{202f}]\d+)*|\.\d+)`)
	numberCall = regexp.MustCompile(`^(?:\d+(?:\.\d+)?|\.\d+)`)
	exponent   = regexp.MustCompile(`^[eE][+-]?\d{1,3}\b`)
)

// A scanner cuts a text into tokens.
type scanner struct {
	text     string
	notation notation
	known    *vocabulary
	tokens   []token
	calls    []bool // for each open parenthesis: whether commas in it separate arguments
}

// scan cuts a text into tokens; white space is dropped.
func scan(text string, notation notation, known *vocabulary) []token {
	s := &scanner{text: text, notation: notation, known: known}
	for at := 0; at < len(text); {
		at = s.next(at)
	}
	return s.tokens
}

func (s *scanner) add(kind tokenKind, canonical string, start, end int) int {
	s.tokens = append(s.tokens, token{kind: kind, canonical: canonical, start: start, end: end})
	return end
}

// next reads one token, or one white space, at an offset and returns the offset behind it.
func (s *scanner) next(at int) int {
	rest := s.text[at:]
	r, width := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsSpace(r):
		return s.space(at)
	case isDigit(r) || r == '.' && s.startsFraction(at):
		return s.number(at)
	case unicode.IsLetter(r) || r == '_':
		return s.word(at)
	case strings.ContainsRune("([（［", r):
		s.calls = append(s.calls, s.isCall(at))
		return s.add(tokenOpen, "(", at, at+width)
	case strings.ContainsRune(")]）］", r):
		if len(s.calls) > 0 {
			s.calls = s.calls[:len(s.calls)-1]
		}
		return s.add(tokenClose, ")", at, at+width)
	case r == ',' || r == ';':
		return s.add(tokenSeparator, "", at, at+width)
	case r == ':' && s.notation.colonDivides && s.isSpaced(at, width):
		return s.add(tokenOperator, "/", at, at+width)
	case r == '=' || r == ':':
		return s.add(tokenAssign, "", at, at+width)
	case strings.ContainsRune(superscripts, r):
		return s.superscript(at)
	case strings.HasPrefix(rest, "**"):
		return s.add(tokenOperator, "^", at, at+2)
	default:
		return s.sign(at, rest[:width])
	}
}

// space reads white space. A blank line is a break, and so is a line that begins
// as an item of a list does: its mark is no operator. Other line ends are where
// a mail program has wrapped the text.
func (s *scanner) space(at int) int {
	length := strings.IndexFunc(s.text[at:], func(r rune) bool { return !unicode.IsSpace(r) })
	if length < 0 {
		return len(s.text)
	}
	end := at + length
	lines := strings.Count(s.text[at:end], "\n")
	mark, width := utf8.DecodeRuneInString(s.text[end:])
	after, _ := utf8.DecodeRuneInString(s.text[end+width:])
	if lines > 0 && strings.ContainsRune("-*+•", mark) && unicode.IsSpace(after) {
		return s.add(tokenBreak, "", at, end+width)
	}
	if lines > 1 {
		return s.add(tokenBreak, "", at, end)
	}
	return end
}

// sign reads an operator, or what is nothing at all.
func (s *scanner) sign(at int, sign string) int {
	end := at + len(sign)
	if plain, known := operatorSigns()[sign]; known {
		sign = plain
	}
	kind := tokenOther
	if len(sign) == 1 && strings.Contains("+-*/^%", sign) {
		kind = tokenOperator
	}
	return s.add(kind, sign, at, end)
}

// operatorSigns are the other signs of operators, those that merely look like one included.
func operatorSigns() map[string]string {
	signs := make(map[string]string)
	for plain, others := range map[string]string{
		"+": "＋﹢➕", "-": "−–‐‑‒﹣－➖˗", "*": "×·⋅∙∗✕✖⨯⨉＊﹡‧・", "/": "÷∕⁄／⧸➗∶", "^": "＾ˆ", "%": "％﹪٪",
	} {
		for _, other := range others {
			signs[string(other)] = plain
		}
	}
	return signs
}

// superscripts are the raised digits from 0 to 9, and the raised minus.
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"

// superscript reads raised digits, which are an exponent.
func (s *scanner) superscript(at int) int {
	end, exponent := at, ""
	for end < len(s.text) {
		r, width := utf8.DecodeRuneInString(s.text[end:])
		digit := strings.IndexRune(superscripts, r)
		if digit < 0 || r == '⁻' && exponent != "" {
			break
		}
		if end += width; r == '⁻' {
			exponent = "-"
		} else {
			exponent += strconv.Itoa(utf8.RuneCountInString(superscripts[:digit]))
		}
	}
	if exponent == "-" || len(exponent) > maxExponent {
		return s.add(tokenOther, "", at, end)
	}
	return s.add(tokenPower, exponent, at, end)
}

// maxExponent bounds raised digits, the minus included.
const maxExponent = 5

// word reads a name, or words that stand for an operator.
func (s *scanner) word(at int) int {
	end := at
	for end < len(s.text) {
		r, width := utf8.DecodeRuneInString(s.text[end:])
		inside := r == '\'' || r == '’' // as in "what's"
		if !unicode.IsLetter(r) && !isDigit(r) && r != '_' && !unicode.IsMark(r) && !(inside && end+width < len(s.text)) {
			break
		}
		end += width
	}
	word := strings.TrimRight(s.text[at:end], "'’")
	end = at + len(word)
	if number := s.last(); number != nil && number.kind == tokenNumber && number.end == at && number.value != 0 {
		// "3x4" is a product.
		if digits := word[1:]; (word[0] == 'x' || word[0] == 'X') && digits != "" && isDigit(rune(digits[0])) {
			return s.add(tokenOperator, "*", at, at+1)
		}
	}
	lower := strings.ReplaceAll(strings.ToLower(word), "’", "'")
	if slices.Contains(s.known.Percent, lower) {
		return s.add(tokenOperator, "%", at, end)
	}
	if lower == "π" {
		lower = "pi"
	}
	return s.add(tokenName, lower, at, end)
}

func (s *scanner) last() *token {
	if len(s.tokens) == 0 {
		return nil
	}
	return &s.tokens[len(s.tokens)-1]
}

// number reads a number, or figures that are none.
func (s *scanner) number(at int) int {
	rest := s.text[at:]
	if figures := notNumbers.FindString(rest); figures != "" {
		return s.add(tokenOther, "", at, at+len(figures))
	}
	pattern := numberRun
	if len(s.calls) > 0 && s.calls[len(s.calls)-1] {
		pattern = numberCall
	}
	figures := pattern.FindString(rest)
	end := at + len(figures)
	plain, reading := s.notation.read(figures)
	if tail := exponent.FindString(s.text[end:]); tail != "" && reading == readingClear {
		plain, end = plain+tail, end+len(tail)
	}
	switch reading {
	case readingClear:
		s.add(tokenNumber, "", at, end)
		s.last().value = parseFloat(plain)
	case readingAmbiguous:
		s.add(tokenAmbiguous, "", at, end)
	case readingNone:
		s.add(tokenOther, "", at, end)
	}
	return end
}

// startsFraction reports whether ".5" begins at an offset.
func (s *scanner) startsFraction(at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:at])
	if at > 0 && (unicode.IsLetter(before) || isDigit(before) || before == ')') {
		return false
	}
	return at+1 < len(s.text) && isDigit(rune(s.text[at+1]))
}

// isCall reports whether the parenthesis at an offset holds arguments that
// commas separate: it follows a function's name and holds no semicolon.
func (s *scanner) isCall(at int) bool {
	before := s.last()
	if before == nil || before.kind != tokenName || before.end != at || !s.known.isFunction(before.canonical) {
		return false
	}
	depth := 0
	for _, r := range s.text[at:min(at+maxFormula, len(s.text))] {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ';':
			if depth == 1 {
				return false
			}
		}
		if depth == 0 {
			break
		}
	}
	return true
}

// isSpaced reports whether white space stands on both sides.
func (s *scanner) isSpaced(at, width int) bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:at])
	after, _ := utf8.DecodeRuneInString(s.text[at+width:])
	return unicode.IsSpace(before) && unicode.IsSpace(after)
}

// isDigit accepts ASCII digits only.
func isDigit(r rune) bool { return r >= '0' && r <= '9' }
