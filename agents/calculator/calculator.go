// Package calculator is the agent that works out formulas and calculations in plain words
// (G-12).
//
// It takes a formula and its inputs as arguments, or finds a calculation in the
// words of the task. In words, decimals may be written with a comma, "×", "·",
// "÷" and ":" stand for their operators, "12 mal 5" and "20 divided by 4" are
// understood, raised digits are an exponent, and signs that look like an operator
// are one. So are "15 % of 80", "80 + 15 %" (which is 92) and inputs such
// as "weight=82, height=1.80". Of several calculations the one that a phrase
// such as "calculate" announces is done. Dates, times and telephone numbers are
// not calculations. What is not understood beside a calculation is named: no part
// of a calculation is worked out as if it were the whole.
//
// A formula may use + - * / ^ % mod, parentheses, the constants pi and e, and
// the functions abs, ceil, floor, trunc, round(x, decimals), sqrt, cbrt, exp, ln,
// log2, log10, sin, cos, tan, asin, acos, atan (radians), rad, deg, pow, mod,
// min, max, sum and mean. Nothing else is within its reach.
//
// Numbers are IEEE 754 doubles; answers are stated with 15 significant digits.
package calculator

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

const (
	maxFormula = 1000 // bytes of a formula given as argument
	maxInputs  = 100
)

// An Agent calculates. It is safe for use by several goroutines at once.
type Agent struct {
	words sentences.Catalog
	known *vocabulary
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent.
func New() (*Agent, error) {
	loaded, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	known, err := loadVocabulary()
	if err != nil {
		return nil, err
	}
	return &Agent{words: loaded, known: known}, nil
}

// Description is the agent's entry in the registry, but for its name.
func (*Agent) Description() schemas.Agent {
	return schemas.Agent{
		Kind:        "calculator",
		Description: "Calculates a formula, given as an argument or found in the task's words.",
		InputSchema: jsontext.Value(inputSchema),
	}
}

const inputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["formula"],
  "additionalProperties": false,
  "properties": {
    "formula": {"type": "string", "minLength": 1, "maxLength": 1000},
    "inputs": {
      "type": "object",
      "maxProperties": 100,
      "propertyNames": {"pattern": "^[\\p{L}_][\\p{L}\\p{N}_]*$"},
      "additionalProperties": {"type": "number"}
    },
    "says": {"type": "string", "maxLength": 1000}
  }
}`

var inputName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*$`)

// An Answer is the result's data.
type Answer struct {
	Formula string             `json:"formula"` // with decimal points
	Inputs  map[string]float64 `json:"inputs"`  // those that the formula uses
	Value   jsontext.Value     `json:"value"`   // a number, 15 significant digits
}

// Handle implements agent.Handler. Every failure is permanent: the same words
// give the same answer.
func (a *Agent) Handle(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	result, err := a.calculate(request.Task())
	return agent.Outcome{Result: result}, err
}

func (a *Agent) calculate(task *schemas.Task) (schemas.Result, error) {
	language := task.Context.Language()
	if arguments := task.Context.Arguments; len(arguments) > 0 && !slices.Contains([]string{"null", "{}"}, string(arguments)) {
		return a.fromArguments(language, arguments)
	}
	return a.fromText(language, task.Description, task.Context.Request)
}

// fromArguments calculates a formula that stands alone.
func (a *Agent) fromArguments(language string, arguments jsontext.Value) (schemas.Result, error) {
	var given struct {
		Formula string                    `json:"formula"`
		Inputs  map[string]jsontext.Value `json:"inputs"`
		Says    string                    `json:"says"` // a sentence before the formula, in which {value} is the result
	}
	if err := schemas.Unmarshal(arguments, &given); err != nil {
		return a.refuse(language, "arguments")
	}
	switch {
	case strings.TrimSpace(given.Formula) == "":
		return a.refuse(language, "formula_missing")
	case len(given.Formula) > maxFormula:
		return a.refuse(language, "too_long", "{limit}", strconv.Itoa(maxFormula))
	case len(given.Inputs) > maxInputs:
		return a.refuse(language, "arguments")
	}
	inputs := make(map[string]float64, len(given.Inputs))
	for _, name := range slices.Sorted(maps.Keys(given.Inputs)) {
		var value float64
		if err := schemas.Unmarshal(given.Inputs[name], &value); err != nil || !inputName.MatchString(name) || string(given.Inputs[name]) == "null" {
			return a.refuse(language, "input", "{name}", name)
		}
		inputs[name] = value
	}
	tokens := joinWords(scan(given.Formula, notation{}, a.known), a.known, inputs)
	p := &parser{text: given.Formula, tokens: tokens, known: a.known, inputs: inputs, decimal: "."}
	found, ok := p.parse(0)
	if ok && found.end < len(tokens) {
		p.at, p.end, ok = found.end, len(tokens), false
		p.blame("unexpected")
	}
	if !ok {
		return a.refuseFault(language, p.fault)
	}
	shown := found.shown
	if decimal := decimalOf(language); decimal != "." {
		p.decimal = decimal
		again, _ := p.parse(0)
		shown = again.shown
	}
	return a.answer(language, found, shown, inputs, given.Says)
}

// fromText calculates what the first text that has a calculation asks for.
func (a *Agent) fromText(language string, texts ...string) (schemas.Result, error) {
	for _, text := range texts {
		s := newSearch(text, notationOf(language), a.known)
		found, ok := s.best(".")
		if !ok {
			continue
		}
		if found.broken.key != "" {
			return a.refuseFault(language, found.broken)
		}
		shown, _ := s.best(decimalOf(language))
		return a.answer(language, found.formula, shown.formula.shown, s.inputs, "")
	}
	return a.refuse(language, "no_formula")
}

func decimalOf(language string) string {
	if language == "de" {
		return ","
	}
	return "."
}

// answer evaluates a formula and puts the value into words.
func (a *Agent) answer(language string, f formula, shown string, inputs map[string]float64, says string) (schemas.Result, error) {
	values := make([]float64, len(f.inputs))
	used := make(map[string]float64, len(f.inputs))
	listed := make([]string, len(f.inputs))
	for i, name := range f.inputs {
		values[i], used[name] = inputs[name], inputs[name]
		listed[i] = name + " = " + format(inputs[name], decimalOf(language))
	}
	value, err := evaluate(f, values)
	switch {
	case err == nil:
	case errors.Is(err, errDivisionByZero):
		return a.refuse(language, "division_by_zero", "{formula}", shown)
	case errors.Is(err, errOverflow):
		return a.refuse(language, "overflow", "{formula}", shown)
	default:
		return schemas.Result{}, &agent.Failure{
			Message: a.words.Say(language, "undefined", "{formula}", shown), Permanent: true, Err: err,
		}
	}
	data, err := schemas.Marshal(Answer{Formula: f.shown, Inputs: used, Value: jsontext.Value(format(value, "."))})
	if err != nil {
		return schemas.Result{}, err
	}
	key := "answer"
	if len(listed) > 0 {
		key = "answer_inputs"
	}
	told := format(value, decimalOf(language))
	text := a.words.Say(language, key, "{formula}", shown, "{value}", told, "{inputs}", strings.Join(listed, "; "))
	if says != "" {
		text = strings.ReplaceAll(says, "{value}", told) + "\n" + text
	}
	return schemas.Result{Text: text, Data: data}, nil
}

// refuse is the failure for what cannot be calculated.
func (a *Agent) refuse(language, key string, places ...string) (schemas.Result, error) {
	return schemas.Result{}, &agent.Failure{
		Message:   a.words.Say(language, key, places...),
		Permanent: true,
		Err:       errors.New("nothing to calculate: " + key),
	}
}

func (a *Agent) refuseFault(language string, f fault) (schemas.Result, error) {
	limit := maxDepth
	if f.key == "too_long" {
		limit = maxFormula
	}
	known := strings.Join(slices.Sorted(maps.Keys(a.known.callable)), ", ")
	return a.refuse(language, f.key, "{found}", f.found, "{known}", known, "{limit}", strconv.Itoa(limit))
}
