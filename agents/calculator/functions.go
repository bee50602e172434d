package calculator

import (
	"errors"
	"math"
	"slices"
	"strings"
)

// maxArguments bounds the arguments of one call.
const maxArguments = 100

var (
	errDivisionByZero = errors.New("division by zero")
	errUndefined      = errors.New("no real result")
	errOverflow       = errors.New("the result is too large")
)

// A function is one that a formula may call.
type function struct {
	name          string
	fewest, most  int // arguments
	call          func(arguments []float64) float64
	dividesByLast bool // a last argument of 0 is a division by zero
	hidden        bool // it stands for an operator and cannot be called by name
}

// functions is everything that a formula may call. Angles are in radians; log
// is left out because it means two things.
func functions() []function {
	one := func(name string, f func(float64) float64) function {
		return function{name: name, fewest: 1, most: 1, call: func(a []float64) float64 { return f(a[0]) }}
	}
	two := func(name string, f func(a, b float64) float64) function {
		return function{name: name, fewest: 2, most: 2, call: func(a []float64) float64 { return f(a[0], a[1]) }}
	}
	many := func(name string, f func([]float64) float64) function {
		return function{name: name, fewest: 1, most: maxArguments, call: f}
	}
	operator := func(name string, f func(a, b float64) float64) function {
		hidden := two(name, f)
		hidden.hidden = true
		return hidden
	}
	mod, quotient := two("mod", math.Mod), operator("quotient", func(a, b float64) float64 { return a / b })
	mod.dividesByLast, quotient.dividesByLast = true, true
	return []function{
		one("abs", math.Abs), one("ceil", math.Ceil), one("floor", math.Floor), one("trunc", math.Trunc),
		{name: "round", fewest: 1, most: 2, call: round},
		one("sqrt", math.Sqrt), one("cbrt", math.Cbrt), one("exp", math.Exp),
		one("ln", math.Log), one("log2", math.Log2), one("log10", math.Log10),
		one("sin", math.Sin), one("cos", math.Cos), one("tan", math.Tan),
		one("asin", math.Asin), one("acos", math.Acos), one("atan", math.Atan),
		one("rad", func(a float64) float64 { return a * math.Pi / 180 }),
		one("deg", func(a float64) float64 { return a * 180 / math.Pi }),
		two("pow", math.Pow), mod,
		many("min", slices.Min[[]float64]), many("max", slices.Max[[]float64]), many("sum", sum),
		many("mean", func(a []float64) float64 { return sum(a) / float64(len(a)) }),
		operator("total", func(a, b float64) float64 { return a + b }),
		operator("difference", func(a, b float64) float64 { return a - b }),
		operator("product", func(a, b float64) float64 { return a * b }),
		quotient,
		operator("power", math.Pow),
	}
}

// apply calls a function and refuses what is not a number that can be stated.
func (f function) apply(arguments []float64) (float64, error) {
	last := arguments[len(arguments)-1]
	if f.dividesByLast && last == 0 {
		return 0, errDivisionByZero
	}
	if (f.name == "power" || f.name == "pow") && arguments[0] == 0 && last < 0 {
		return 0, errDivisionByZero
	}
	result := f.call(arguments)
	switch {
	case math.IsNaN(result):
		return 0, errUndefined
	case math.IsInf(result, -1) && strings.HasPrefix(f.name, "l"):
		return 0, errUndefined // a logarithm of zero
	case math.IsInf(result, 0):
		return 0, errOverflow
	}
	return result, nil
}

// constants are the names that have a value of their own.
func constants() map[string]float64 { return map[string]float64{"pi": math.Pi, "e": math.E} }

// round rounds half away from zero, to a number of decimals if there is one.
func round(arguments []float64) float64 {
	if len(arguments) == 1 {
		return math.Round(arguments[0])
	}
	scale := math.Pow(10, math.Trunc(arguments[1]))
	if scaled := rounded(arguments[0] * scale); !math.IsInf(scaled, 0) && scale != 0 {
		return math.Round(scaled) / scale
	}
	return arguments[0]
}

func sum(arguments []float64) float64 {
	total := 0.0
	for _, argument := range arguments {
		total += argument
	}
	return total
}

// lookup returns the function that a name stands for.
func (v *vocabulary) lookup(name string) (function, bool) {
	if other, renamed := v.Functions[name]; renamed {
		name = other
	}
	found, known := v.callable[name]
	return found, known
}

func (v *vocabulary) isFunction(name string) bool {
	_, known := v.lookup(name)
	return known
}
