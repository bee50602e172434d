package arguments

import "strings"

// findExpressions finds arithmetic: numbers with operators between them, without blanks.
func (r *reader) findExpressions() []found {
	var all []found
	for i := 0; i < len(r.tokens); {
		f, ok := r.expressionAt(i)
		if !ok {
			i++
			continue
		}
		all = append(all, f)
		i = f.to
	}
	return all
}

// expressionAt reads the longest expression that begins there and has an operator.
func (r *reader) expressionAt(i int) (found, bool) {
	var written strings.Builder
	open, operators, operand := 0, 0, true
	best, end, sure := "", 0, true
	const longest, deepest = 256, 16
	for at := i; at < min(len(r.tokens), i+longest) && open <= deepest; {
		if operand {
			if t := r.at(at); t.fold == "(" {
				written.WriteString("(")
				open++
				at++
				continue
			}
			to, readings := r.numberAt(at)
			if to == 0 || r.at(at).kind == tokenWord && at == i && !r.operatorFollows(to) {
				break
			}
			sure = sure && len(readings) == 1
			written.WriteString(readings[0])
			at, operand = to, false
		} else if t := r.at(at); t.fold == ")" && open > 0 {
			written.WriteString(")")
			open--
			at++
		} else {
			sign, to := r.operator(at)
			if sign == "" {
				break
			}
			written.WriteString(sign)
			operators++
			at, operand = to, true
			continue
		}
		if open == 0 && operators > 0 {
			best, end = written.String(), at
		}
	}
	f := found{from: i, to: end, readings: []string{best}, short: -1}
	if !sure {
		f.readings = nil
	}
	return f, end > 0
}

func (r *reader) operatorFollows(at int) bool {
	sign, _ := r.operator(at)
	return sign != ""
}

func (r *reader) operator(at int) (string, int) {
	t := r.at(at)
	if t.kind == tokenMark {
		switch t.fold {
		case "+", "-", "*", "/", "^":
			return t.fold, at + 1
		case "×", "·", "∙":
			return "*", at + 1
		case "÷", ":":
			return "/", at + 1
		}
		return "", 0
	}
	for _, operator := range []struct {
		sign  string
		words []string
	}{{"*", r.Times}, {"/", r.Divided}, {"+", r.Plus}, {"-", r.Minus}, {"^", r.Power}} {
		if !has(operator.words, t.fold) {
			continue
		}
		to := at + 1
		for r.word(to, r.Divided) || r.word(to, r.DividedBy) {
			to++
		}
		return operator.sign, to
	}
	return "", 0
}
