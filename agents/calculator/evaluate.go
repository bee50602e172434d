package calculator

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr"
)

// functionPrefix begins the name of every function in a formula's source.
const functionPrefix = "f_"

// maxNodes bounds a formula's syntax tree. A formula within the bounds of the
// parser stays below it.
const maxNodes = 20 * maxTokens

// errEvaluation reports a formula that the library refuses although the parser
// has accepted it. It does not say more, because the library quotes the formula.
var errEvaluation = errors.New("the expression library refuses the formula")

// evaluate returns the value of a formula for its inputs. Nothing but numbers,
// arithmetic and the functions of functions() is within reach of it: all
// builtins are switched off, and no operation loops or allocates beyond the
// formula's own length. Errors: errDivisionByZero, errUndefined, errOverflow, errEvaluation.
func evaluate(f formula, values []float64) (float64, error) {
	environment := make(map[string]any, len(values))
	for i, value := range values {
		environment[fmt.Sprintf("v%d", i)] = value
	}
	program, err := expr.Compile(f.source, options(environment)...)
	if err != nil {
		return 0, errEvaluation
	}
	result, err := expr.Run(program, environment)
	if err != nil {
		for _, known := range [...]error{errDivisionByZero, errUndefined, errOverflow} {
			if errors.Is(err, known) {
				return 0, known
			}
		}
		return 0, errEvaluation
	}
	value, isNumber := result.(float64)
	if !isNumber {
		return 0, errEvaluation
	}
	return value, nil
}

// options describes arithmetic and nothing more to the library. Every operator
// is one of our functions, so that each intermediate result is checked.
func options(environment map[string]any) []expr.Option {
	made := []expr.Option{
		expr.Env(environment),
		expr.DisableAllBuiltins(),
		expr.DisableIfOperator(),
		expr.MaxNodes(maxNodes),
		expr.Optimize(false),
		expr.AsFloat64(),
	}
	for _, f := range functions() {
		made = append(made, expr.Function(functionPrefix+f.name, func(given ...any) (any, error) {
			arguments := make([]float64, len(given))
			for i := range given {
				number, isNumber := given[i].(float64)
				if !isNumber {
					return nil, errEvaluation
				}
				arguments[i] = number
			}
			return f.apply(arguments)
		}, signature(f)))
	}
	for sign, name := range map[string]string{
		"+": "total", "-": "difference", "*": "product", "/": "quotient", "^": "power",
	} {
		made = append(made, expr.Operator(sign, functionPrefix+name))
	}
	return made
}

// signature is a function's type, for the library's checker.
func signature(f function) any {
	switch {
	case f.most == 1:
		return new(func(float64) float64)
	case f.fewest == 2 && f.most == 2:
		return new(func(float64, float64) float64)
	default:
		return new(func(...float64) float64)
	}
}
