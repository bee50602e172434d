package plan

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/route"
)

// A template is a schemas.Template made ready.
type template struct {
	*schemas.Template
	keywords   *route.Keywords // nil: it fits every text
	parameters []*regexp.Regexp
}

// requestParameter stands for the words as they came.
const requestParameter = "request"

func compileTemplate(source *schemas.Template) (*template, error) {
	ready := &template{Template: source}
	if len(source.Keywords) > 0 {
		var err error
		if ready.keywords, err = route.CompileKeywords(source.Keywords); err != nil {
			return nil, err
		}
	}
	known := map[string]bool{requestParameter: true}
	for i := range source.Parameters {
		parameter := &source.Parameters[i]
		if parameter.Name == "" || known[parameter.Name] {
			return nil, fmt.Errorf("parameter %q is there twice, or its name is taken", parameter.Name)
		}
		known[parameter.Name] = true
		expression, err := regexp.Compile(parameter.Pattern)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", parameter.Name, err)
		}
		ready.parameters = append(ready.parameters, expression)
	}
	return ready, nil
}

// fits returns the values of the template's parameters, or false when it is not
// for this text.
func (t *template) fits(words string) ([]string, bool) {
	if t.keywords != nil && !t.keywords.Hit(words) {
		return nil, false
	}
	values := []string{"{" + requestParameter + "}", words}
	for i, expression := range t.parameters {
		parameter := &t.Parameters[i]
		value, found := capture(expression, words)
		if !found {
			value = parameter.Default
		}
		if value == "" && parameter.Required {
			return nil, false
		}
		values = append(values, "{"+parameter.Name+"}", value)
	}
	return values, true
}

// capture returns the first group of an expression in a text, or the match when
// it has no group.
func capture(expression *regexp.Regexp, words string) (string, bool) {
	match := expression.FindStringSubmatch(words)
	switch {
	case match == nil:
		return "", false
	case len(match) > 1:
		return strings.TrimSpace(match[1]), true
	}
	return strings.TrimSpace(match[0]), true
}

// fill makes the plan of a template with the values of its parameters. A value
// stands for itself: what looks like a parameter inside it is not replaced.
func (t *template) fill(values []string) ([]schemas.PlannedTask, error) {
	replacer := strings.NewReplacer(values...)
	tasks := make([]schemas.PlannedTask, len(t.Tasks))
	for i := range t.Tasks {
		source := &t.Tasks[i]
		arguments, err := replace(source.Arguments, replacer)
		if err != nil {
			return nil, fmt.Errorf("template %q: task %q: %w", t.Name, source.Task, err)
		}
		tasks[i] = schemas.PlannedTask{
			Task: source.Task, Description: inlineBody(replacer.Replace(source.Description)), Dependencies: source.Dependencies,
			Agent: source.Agent, Priority: source.Priority, Optional: source.Optional,
			Seconds: source.Seconds, Tokens: source.Tokens,
			TaskOptions: nilIfNoOptions(schemas.TaskOptions{Resources: source.Resources, Arguments: arguments}),
		}
	}
	return tasks, nil
}

// replace puts values into every string of a JSON value; names of members stay.
func replace(value jsontext.Value, replacer *strings.Replacer) (jsontext.Value, error) {
	if len(value) == 0 {
		return nil, nil
	}
	var into strings.Builder
	encoder, decoder := jsontext.NewEncoder(&into), jsontext.NewDecoder(strings.NewReader(string(value)))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("arguments: %s", recordable(err))
		}
		if kind, length := decoder.StackIndex(decoder.StackDepth()); token.Kind() == '"' && (kind != '{' || length%2 == 0) {
			token = jsontext.String(replacer.Replace(token.String()))
		}
		if err = encoder.WriteToken(token); err != nil {
			return nil, fmt.Errorf("arguments: %s", recordable(err))
		}
		if decoder.StackDepth() == 0 {
			return jsontext.Value(strings.TrimSpace(into.String())), nil
		}
	}
}
