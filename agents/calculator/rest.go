package calculator

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxUnits is how many words and signs behind a formula may be units or marks, before an operator that goes on.
const maxUnits = 3

// faultBehind says what behind a formula may belong to it and is not understood: a number or parenthesis without an
// operator between, an operator that has no meaning here, or an operator behind a unit.
func (s *search) faultBehind(p *parser, end int) fault {
	if s.cut && end >= len(s.tokens) {
		return fault{key: "too_long"}
	}
	if end >= len(s.tokens) {
		return fault{}
	}
	next := s.tokens[end]
	switch {
	case next.kind == tokenOperator && !s.isColon(end):
		if p.furthest > end && p.fault.key != "" {
			return p.fault
		}
		return s.about("unexpected", end)
	case s.isFigure(end) && s.isSameLine(end):
		return s.about("unexpected", end)
	case next.kind == tokenOpen && (s.isAdjacent(end) || s.isOperand(end+1)):
		return s.about("unexpected", end)
	case next.kind == tokenPower || next.kind == tokenOther && isMathematical(s.runeAt(end)):
		return s.about("unexpected", end)
	case next.kind == tokenOther && !isPunctuation(s.runeAt(end)) && s.isOperand(s.behindMarks(end)):
		return s.about("unexpected", end)
	case next.kind == tokenName && (s.isValue(p, end) || s.known.isUnread(next.canonical) || s.isLetterBeforeFigure(end)):
		return s.about("unexpected", end)
	case (next.kind == tokenAssign || s.isColon(end)) && s.runeAt(end) == ':' && s.hasSpaces(end) && s.isFigure(end+1):
		return s.about("unexpected", end)
	}
	return s.faultBehindUnits(end)
}

// faultBehindUnits finds an operator and its number behind units and marks: of "2 + 3 kg * 4" 5 is a part.
func (s *search) faultBehindUnits(end int) fault {
	for at := end; at < min(end+maxUnits, len(s.tokens)); at++ {
		switch next := s.tokens[at]; {
		case next.kind == tokenOther && strings.ContainsRune(".?…", s.runeAt(at)):
			return fault{}
		case next.kind != tokenOther && next.kind != tokenName && next.kind != tokenClose:
			return fault{}
		case s.isSign(at+1) && s.isOperand(at+2):
			return s.about("unexpected", at+1)
		}
	}
	return fault{}
}

// faultBefore says what before a formula may belong to it and is not understood: a root sign, a fraction, a number
// without an operator between, or a function without parentheses.
func (s *search) faultBefore(start int) fault {
	before := start - 1
	if before < 0 {
		return fault{}
	}
	switch s.tokens[before].kind {
	case tokenOther:
		if isMathematical(s.runeAt(before)) {
			return s.about("unexpected", before)
		}
	case tokenNumber, tokenAmbiguous:
		if s.isSameLine(start) {
			return s.about("unexpected", before)
		}
	case tokenName:
		if joins := s.tokens[before].canonical; before > 0 && s.known.isOf(joins) {
			before--
		}
		if called, known := s.known.lookup(s.tokens[before].canonical); known && called.most == 1 || s.known.isUnread(s.tokens[before].canonical) {
			return s.about("unexpected", before)
		}
	case tokenOperator, tokenPower, tokenOpen, tokenClose, tokenSeparator, tokenAssign, tokenBreak:
	}
	return fault{}
}

// isFigure reports whether a token is a number, or figures that are none.
func (s *search) isFigure(at int) bool {
	if at < 0 || at >= len(s.tokens) {
		return false
	}
	return s.tokens[at].kind == tokenNumber || s.tokens[at].kind == tokenAmbiguous || s.tokens[at].kind == tokenOther && isDigit(s.runeAt(at))
}

// isOperand reports whether a token can be the right side of an operator.
func (s *search) isOperand(at int) bool {
	if at < len(s.tokens) && s.isSign(at) {
		at++ // a sign of the number
	}
	return s.isFigure(at) || at < len(s.tokens) && s.tokens[at].kind == tokenOpen
}

// isValue reports whether a name stands for a number, or calls a function: no operator joins it to what is before.
func (s *search) isValue(p *parser, at int) bool {
	name := s.tokens[at]
	_, isInput := p.value(name)
	_, isConstant := constants()[name.canonical]
	isCall := at+1 < len(s.tokens) && s.tokens[at+1].kind == tokenOpen && s.tokens[at+1].start == name.end
	return isInput || isConstant || isCall
}

// isLetterBeforeFigure reports whether a single letter stands before a number: letters of other scripts look like x.
func (s *search) isLetterBeforeFigure(at int) bool {
	return utf8.RuneCountInString(s.tokens[at].canonical) == 1 && s.isFigure(at+1)
}

// behindMarks returns the first token that is neither a sign without meaning nor invisible.
func (s *search) behindMarks(at int) int {
	for at < len(s.tokens) && s.tokens[at].kind == tokenOther && !isDigit(s.runeAt(at)) && !isPunctuation(s.runeAt(at)) {
		at++
	}
	return at
}

func (s *search) isColon(at int) bool { return s.runeAt(at) == ':' }

func (s *search) runeAt(at int) rune {
	first, _ := utf8.DecodeRuneInString(s.text[s.tokens[at].start:])
	return first
}

// isAdjacent reports whether nothing stands between a token and the one before.
func (s *search) isAdjacent(at int) bool { return at > 0 && s.tokens[at-1].end == s.tokens[at].start }

// isSameLine reports whether a token is on the line of the one before.
func (s *search) isSameLine(at int) bool {
	return at > 0 && !strings.Contains(s.text[s.tokens[at-1].end:s.tokens[at].start], "\n")
}

// hasSpaces reports whether white space stands on both sides of a token.
func (s *search) hasSpaces(at int) bool {
	return !s.isAdjacent(at) && at+1 < len(s.tokens) && !s.isAdjacent(at+1)
}

// isMathematical reports whether a sign belongs to a calculation, such as √, ½, ‰ or ≤.
func isMathematical(r rune) bool {
	return unicode.Is(unicode.Sm, r) || unicode.IsNumber(r) && !isDigit(r) || strings.ContainsRune("‰‱", r)
}

// isPunctuation reports whether a sign ends or quotes a sentence.
func isPunctuation(r rune) bool {
	return strings.ContainsRune(".?!…\"'`„“”‚‘’«»‹›)]", r)
}
