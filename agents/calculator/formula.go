package calculator

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	maxDepth  = 50  // levels of parentheses and calls
	maxTokens = 500 // of one formula
)

// A formula is a calculation in three spellings.
type formula struct {
	source     string   // for the expression library: decimal literals, v0, v1, … for the inputs
	shown      string   // for people, in the notation of the answer
	inputs     []string // the names behind v0, v1, …
	operations int      // operators and calls
	end        int      // the token behind it
}

// A fault is why tokens are no formula.
type fault struct {
	key   string // of the sentence that says so
	found string // what it is about
}

// A parser reads a formula from tokens by recursive descent. It only decides
// what belongs to the formula and writes it anew from a fixed set of pieces;
// the value, and with it the precedence of operators, is the expression
// library's business.
type parser struct {
	text    string
	tokens  []token
	known   *vocabulary
	inputs  map[string]float64
	decimal string // "." or ",", for shown

	at, end    int // the token to read and the one to stop at
	depth      int
	operations int
	used       []string
	furthest   int // the token that the newest fault is about
	fault      fault
}

// A term is a part of a formula in two spellings.
type term struct {
	source, shown string
	percent       bool // it is nothing but a percentage
}

// parse reads the longest formula, of at most maxTokens, that begins at a token;
// ok is false when none does.
func (p *parser) parse(start int) (f formula, ok bool) {
	p.at, p.end = start, min(start+maxTokens, len(p.tokens))
	p.depth, p.operations, p.used = 0, 0, nil
	p.furthest, p.fault = -1, fault{}
	read, ok := p.sum()
	if !ok {
		return formula{}, false
	}
	return formula{source: read.source, shown: read.shown, inputs: p.used, operations: p.operations, end: p.at}, true
}

// blame remembers what is wrong with the furthest token reached.
func (p *parser) blame(key string) {
	if p.at <= p.furthest {
		return
	}
	p.furthest = p.at
	p.fault = fault{key: key}
	if p.at < p.end {
		p.fault.found = p.text[p.tokens[p.at].start:p.tokens[p.at].end]
	} else if key == "unexpected" {
		p.fault.key = "incomplete"
	}
}

func (p *parser) peek() token {
	if p.at < p.end {
		return p.tokens[p.at]
	}
	return token{kind: tokenBreak}
}

func (p *parser) operator(signs ...string) (string, bool) {
	next := p.peek()
	return next.canonical, next.kind == tokenOperator && slices.Contains(signs, next.canonical)
}

// sum reads terms joined by + and -. A lone percentage is one of the sum before
// it, as on a pocket calculator: 80 + 15% is 92.
func (p *parser) sum() (term, bool) {
	left, ok := p.product()
	if !ok {
		return term{}, false
	}
	for {
		before := p.at
		sign, isOperator := p.operator("+", "-")
		if !isOperator {
			return left, true
		}
		p.at++
		right, ok := p.product()
		if !ok {
			p.at = before
			return left, true
		}
		p.operations++
		shown := left.shown + " " + sign + " " + right.shown
		if right.percent && !left.percent {
			left = term{source: "(" + left.source + ") * (1.0 " + sign + " " + right.source + ")", shown: shown}
			continue
		}
		left = term{source: left.source + " " + sign + " " + right.source, shown: shown}
	}
}

// product reads factors joined by *, / and modulo.
func (p *parser) product() (term, bool) {
	left, ok := p.signed()
	if !ok {
		return term{}, false
	}
	for {
		before := p.at
		sign, isOperator := p.operator("*", "/", "mod", "%")
		if next := p.peek(); left.percent && next.kind == tokenName && slices.Contains(p.known.PercentOf, next.canonical) {
			sign, isOperator = "*", true
		}
		if !isOperator {
			return left, true
		}
		p.at++
		right, ok := p.signed()
		if !ok {
			p.at = before
			return left, true
		}
		p.operations++
		if sign == "mod" || sign == "%" {
			left = term{source: call("mod", left.source, right.source), shown: left.shown + " mod " + right.shown}
			continue
		}
		left = term{source: left.source + " " + sign + " " + right.source, shown: left.shown + sign + right.shown}
	}
}

// signed reads a power with signs before it; -2^2 is -4.
func (p *parser) signed() (term, bool) {
	sign, isSign := p.operator("+", "-")
	if !isSign {
		return p.power()
	}
	if !p.enter() {
		return term{}, false
	}
	defer p.leave()
	p.at++
	inner, ok := p.signed()
	if !ok {
		return term{}, false
	}
	return term{source: "(" + sign + inner.source + ")", shown: sign + inner.shown}, true
}

// power reads a^b, which binds to the right: 2^3^2 is 512.
func (p *parser) power() (term, bool) {
	base, ok := p.postfixed()
	if !ok {
		return term{}, false
	}
	before := p.at
	if _, isOperator := p.operator("^"); !isOperator {
		return base, true
	}
	if !p.enter() {
		return term{}, false
	}
	defer p.leave()
	p.at++
	exponent, ok := p.signed()
	if !ok {
		p.at = before
		return base, true
	}
	p.operations++
	return term{source: base.source + " ^ " + exponent.source, shown: base.shown + "^" + exponent.shown}, true
}

// postfixed reads a number, name, call or parenthesis and what is written
// behind it: a percent sign or a superscript.
func (p *parser) postfixed() (term, bool) {
	read, ok := p.primary()
	if !ok {
		return term{}, false
	}
	for {
		switch next := p.peek(); {
		case next.kind == tokenPower:
			p.operations++
			read = term{source: "(" + read.source + " ^ (" + next.canonical + ".0))", shown: read.shown + "^" + next.canonical}
		case next.kind == tokenOperator && next.canonical == "%" && !read.percent && !p.beginsOperand(p.at+1):
			p.operations++
			read = term{source: "(" + read.source + " / 100.0)", shown: read.shown + "%", percent: true}
		default:
			return read, true
		}
		p.at++
	}
}

// beginsOperand reports whether a token can stand after a modulo sign.
func (p *parser) beginsOperand(at int) bool {
	if at >= p.end {
		return false
	}
	next := p.tokens[at]
	if next.kind == tokenName {
		_, isInput := p.value(next)
		return isInput || p.known.isFunction(next.canonical)
	}
	return next.kind == tokenNumber || next.kind == tokenOpen
}

func (p *parser) primary() (term, bool) {
	switch next := p.peek(); next.kind {
	case tokenNumber:
		if math.IsInf(next.value, 0) {
			p.blame("too_large")
			return term{}, false
		}
		p.at++
		return p.literal(next.value), true
	case tokenOpen:
		return p.parenthesis()
	case tokenName:
		if p.known.isFunction(next.canonical) && p.at+1 < p.end && p.tokens[p.at+1].kind == tokenOpen {
			return p.function(next)
		}
		return p.name(next)
	case tokenAmbiguous:
		p.blame("ambiguous_number")
	case tokenOther, tokenOperator, tokenPower, tokenClose, tokenSeparator, tokenAssign, tokenBreak:
		p.blame("unexpected")
	}
	return term{}, false
}

// literal writes a number; the library must take it for a decimal one, because
// its integers overflow silently.
func (p *parser) literal(value float64) term {
	source := strconv.FormatFloat(value, 'f', -1, 64)
	if !strings.Contains(source, ".") {
		source += ".0"
	}
	return term{source: source, shown: format(value, p.decimal)}
}

func (p *parser) parenthesis() (term, bool) {
	if !p.enter() {
		return term{}, false
	}
	defer p.leave()
	p.at++
	inner, ok := p.sum()
	if !ok {
		return term{}, false
	}
	if p.peek().kind != tokenClose {
		p.blame("unexpected")
		return term{}, false
	}
	p.at++
	return term{source: "(" + inner.source + ")", shown: "(" + inner.shown + ")"}, true
}

// name reads an input or a constant. Inputs come first: a person's "e" is not Euler's.
func (p *parser) name(next token) (term, bool) {
	spelled := p.text[next.start:next.end]
	name, isInput := p.value(next)
	if !isInput {
		if value, isConstant := constants()[next.canonical]; isConstant {
			p.at++
			read := p.literal(value)
			read.shown = spelled
			return read, true
		}
		key := "unknown_name"
		if p.at+1 < p.end && p.tokens[p.at+1].kind == tokenOpen {
			key = "unknown_function"
		}
		p.blame(key)
		return term{}, false
	}
	p.at++
	index := slices.Index(p.used, name)
	if index < 0 {
		index = len(p.used)
		p.used = append(p.used, name)
	}
	return term{source: "v" + strconv.Itoa(index), shown: spelled}, true
}

// value finds an input as it is spelled, else in lower case.
func (p *parser) value(next token) (name string, isInput bool) {
	spelled := p.text[next.start:next.end]
	if _, isInput = p.inputs[spelled]; isInput {
		return spelled, true
	}
	_, isInput = p.inputs[next.canonical]
	return next.canonical, isInput
}

func (p *parser) function(next token) (term, bool) {
	if !p.enter() {
		return term{}, false
	}
	defer p.leave()
	called, _ := p.known.lookup(next.canonical)
	name := p.at
	p.at += 2
	var sources, shown []string
	for {
		argument, ok := p.sum()
		if !ok {
			return term{}, false
		}
		sources, shown = append(sources, argument.source), append(shown, argument.shown)
		if p.peek().kind != tokenSeparator {
			break
		}
		p.at++
	}
	if p.peek().kind != tokenClose {
		p.blame("unexpected")
		return term{}, false
	}
	if len(sources) < called.fewest || len(sources) > called.most {
		p.furthest, p.fault = p.at, fault{key: "argument_count", found: p.text[p.tokens[name].start:p.tokens[name].end]}
		return term{}, false
	}
	p.at++
	p.operations++
	separator := ", "
	if p.decimal == "," {
		separator = "; "
	}
	return term{
		source: call(called.name, sources...),
		shown:  called.name + "(" + strings.Join(shown, separator) + ")",
	}, true
}

// call writes a call of one of our functions; the prefix keeps it apart from
// everything else that the library may know.
func call(name string, arguments ...string) string {
	return functionPrefix + name + "(" + strings.Join(arguments, ", ") + ")"
}

func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.depth--
		p.blame("too_deep")
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }
