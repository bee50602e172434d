package calculator

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxText is how much of a text is searched, in bytes.
	maxText = 32 << 10
	// reach is how many words may stand between a trigger and its calculation.
	reach = 12
)

// A search is a text with what is known about it.
type search struct {
	text   string
	tokens []token
	known  *vocabulary
	inputs map[string]float64
	cut    bool // the text goes on behind what is searched
}

// newSearch reads a text; it takes inputs such as "weight=82" from it.
func newSearch(text string, numbers notation, known *vocabulary) *search {
	cut := len(text) > maxText
	if cut {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	tokens := scan(text, numbers, known)
	inputs := assignments(tokens)
	return &search{text: text, tokens: joinWords(tokens, known, inputs), known: known, inputs: inputs, cut: cut}
}

// assignments finds "name = number" and "name: number" where no calculation
// goes on behind the number. Names are in lower case; the first value counts.
func assignments(tokens []token) map[string]float64 {
	found := make(map[string]float64)
	for i := 0; i+2 < len(tokens); i++ {
		if tokens[i].kind != tokenName || tokens[i+1].kind != tokenAssign {
			continue
		}
		number, sign := i+2, 1.0
		if tokens[number].kind == tokenOperator && tokens[number].canonical == "-" && number+1 < len(tokens) {
			number, sign = number+1, -1
		}
		if tokens[number].kind != tokenNumber {
			continue
		}
		if behind := number + 1; behind < len(tokens) && (tokens[behind].kind == tokenOperator || tokens[behind].kind == tokenPower) {
			continue
		}
		if _, known := found[tokens[i].canonical]; !known {
			found[tokens[i].canonical] = sign * tokens[number].value
		}
	}
	return found
}

// joinWords makes operators of the words that stand for them, unless an input
// has that name or a call follows.
func joinWords(tokens []token, known *vocabulary, inputs map[string]float64) []token {
	joined := make([]token, 0, len(tokens))
	for i := 0; i < len(tokens); {
		length, operator := known.operatorAt(tokens[i:])
		_, isInput := inputs[tokens[i].canonical]
		isCall := i+1 < len(tokens) && tokens[i+1].kind == tokenOpen && tokens[i+1].start == tokens[i].end
		if length == 0 || isInput || isCall && known.isFunction(tokens[i].canonical) {
			joined = append(joined, tokens[i])
			i++
			continue
		}
		joined = append(joined, token{
			kind: tokenOperator, canonical: operator, start: tokens[i].start, end: tokens[i+length-1].end,
		})
		i += length
	}
	return joined
}

// operatorAt returns the longest words for an operator that the tokens begin with.
func (v *vocabulary) operatorAt(tokens []token) (length int, operator string) {
	for _, candidate := range v.operators {
		if len(candidate.words) > length && beginsWith(tokens, candidate.words) {
			length, operator = len(candidate.words), candidate.operator
		}
	}
	return length, operator
}

func beginsWith(tokens []token, words []string) bool {
	return len(tokens) >= len(words) && slices.EqualFunc(tokens[:len(words)], words, func(t token, word string) bool {
		return t.kind == tokenName && t.canonical == word
	})
}

// A candidate is a calculation found in a text.
type candidate struct {
	formula formula
	rank    int   // 0 is surest
	broken  fault // why it may be a part of something longer; zero when it is whole
}

// The ranks of candidates. A weak one is two whole numbers joined by a hyphen
// or a slash without space, such as "24/7".
const (
	rankAnnounced  = iota // right behind a trigger
	rankStrong            // behind a trigger, with something between
	rankElsewhere         // without a trigger
	rankWeakBehind        // weak, behind a trigger
	rankWeak
)

// best returns the calculation that the text most probably asks for: the first
// of the surest. ok is false when there is none.
func (s *search) best(decimal string) (best candidate, ok bool) {
	p := &parser{text: s.text, tokens: s.tokens, known: s.known, inputs: s.inputs, decimal: decimal}
	trigger := -1 // the token behind the newest trigger
	figures := false
	for i := 0; i < len(s.tokens); {
		if length := s.triggerAt(i); length > 0 {
			i += length
			trigger, figures = i, false
			continue
		}
		found, parsed := p.parse(i)
		if !parsed || found.operations == 0 || s.isDash(i) {
			figures = figures || s.tokens[i].kind == tokenNumber
			i++
			continue
		}
		now := candidate{formula: found, broken: s.torn(p, i, found.end)}
		now.rank = s.rank(i, found, trigger, figures)
		if !ok || now.rank < best.rank {
			best, ok = now, true
		}
		figures = true
		i = found.end
	}
	return best, ok
}

// triggerAt returns how many tokens a trigger at a token has.
func (s *search) triggerAt(at int) int {
	for _, words := range s.known.triggers {
		if beginsWith(s.tokens[at:], words) {
			return len(words)
		}
	}
	return 0
}

func (s *search) rank(start int, found formula, trigger int, figures bool) int {
	weak := s.isWeak(start, found)
	between := start - trigger
	switch {
	case trigger >= 0 && !figures && (between <= 1 || !weak && between <= reach):
		return rankAnnounced
	case weak && trigger >= 0:
		return rankWeakBehind
	case weak:
		return rankWeak
	case trigger >= 0:
		return rankStrong
	default:
		return rankElsewhere
	}
}

func (s *search) isWeak(start int, found formula) bool {
	if found.end-start != 3 || found.operations != 1 {
		return false
	}
	sign := s.tokens[start+1]
	if sign.kind != tokenOperator || sign.canonical != "-" && sign.canonical != "/" {
		return false
	}
	return s.tokens[start].end == sign.start && sign.end == s.tokens[start+2].start
}

// isDash reports whether a token is a dash between words and a number, not a sign.
func (s *search) isDash(at int) bool {
	sign := s.tokens[at]
	if sign.kind != tokenOperator || sign.canonical != "-" || at == 0 || at+1 >= len(s.tokens) {
		return false
	}
	return s.tokens[at-1].kind == tokenName && s.tokens[at-1].end < sign.start && sign.end < s.tokens[at+1].start
}

// torn says what cuts a formula off: an operator beside it, or beside the
// parentheses around it, whose other side is not understood, or the name of a
// function that does not exist. A part of a formula must not be answered as if
// it were the whole.
func (s *search) torn(p *parser, start, end int) fault {
	if end-start == maxTokens {
		return fault{key: "too_long"}
	}
	if rest := s.faultBehind(p, end); rest.key != "" {
		return rest
	}
	if before := s.faultBefore(start); before.key != "" {
		return before
	}
	if s.isSign(start-1) && !s.isDash(start-1) {
		return s.about("unexpected", start-1)
	}
	opened := s.enclosing(start)
	if s.tokens[start].kind == tokenOpen {
		opened = append(opened, start)
	}
	for _, open := range opened {
		if s.isSign(open - 1) {
			return s.about("unexpected", open-1)
		}
		if open > 0 && s.tokens[open-1].kind == tokenName && s.tokens[open-1].end == s.tokens[open].start && !s.endsTrigger(open) {
			return s.about("unknown_function", open-1)
		}
	}
	for closed, left := end, len(opened); closed < min(end+reach, len(s.tokens)) && left > 0; closed++ {
		if s.tokens[closed].kind != tokenClose {
			continue
		}
		if left--; s.isSign(closed + 1) {
			return s.about("unexpected", closed+1)
		}
	}
	return fault{}
}

// enclosing returns the parentheses that are open before a token, innermost first.
func (s *search) enclosing(start int) []int {
	var opened []int
	depth := 0
	for at := start - 1; at >= max(0, start-2*reach) && s.tokens[at].kind != tokenBreak; at-- {
		if s.tokens[at].kind == tokenClose {
			depth++
		}
		if s.tokens[at].kind != tokenOpen {
			continue
		}
		if depth--; depth < 0 {
			opened, depth = append(opened, at), 0
		}
	}
	return opened
}

// endsTrigger reports whether a trigger ends right before a token.
func (s *search) endsTrigger(at int) bool {
	return slices.ContainsFunc(s.known.triggers, func(words []string) bool {
		return at >= len(words) && beginsWith(s.tokens[at-len(words):at], words)
	})
}

// isSign reports whether a token is an operator written as a sign, not as a
// word; a colon may be mere punctuation.
func (s *search) isSign(at int) bool {
	if at < 0 || at >= len(s.tokens) || s.tokens[at].kind != tokenOperator {
		return false
	}
	first, _ := utf8.DecodeRuneInString(s.text[s.tokens[at].start:])
	return !unicode.IsLetter(first) && first != ':'
}

func (s *search) about(key string, at int) fault {
	return fault{key: key, found: s.text[s.tokens[at].start:s.tokens[at].end]}
}
