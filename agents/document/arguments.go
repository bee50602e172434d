package document

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// arguments are what a document is made of (G-10).
type arguments struct {
	DocumentType string         `json:"document_type"`
	Template     string         `json:"template"`
	ContentData  jsontext.Value `json:"content_data"`

	data map[string]any
}

// argumentsOf reads the arguments of a task, with what people have answered to questions about it.
func argumentsOf(told *schemas.TaskContext) (*arguments, error) {
	var asked arguments
	if len(told.Arguments) > 0 {
		if err := schemas.Unmarshal(told.Arguments, &asked); err != nil {
			return nil, errors.New("the arguments cannot be read")
		}
	}
	var err error
	if asked.data, err = dataOf(asked.ContentData); err != nil {
		return nil, errors.New("content_data is no object")
	}
	for i := range told.Answers {
		asked.answered(&told.Answers[i])
	}
	return &asked, nil
}

// answered adds what a person has said to what was asked for, and to nothing else.
func (a *arguments) answered(answer *schemas.InquiryAnswer) {
	values, err := dataOf(answer.Values)
	if err != nil {
		values = map[string]any{}
	}
	for _, need := range answer.Needs {
		value, found := at(values, strings.Split(need, "."))
		if !found {
			value, found = underName(answer, need)
		}
		if !found {
			continue
		}
		text, _ := value.(string)
		switch path, inside := strings.CutPrefix(need, contentData); {
		case need == "template":
			a.Template = text
		case need == "document_type":
			a.DocumentType = text
		case inside:
			put(a.data, strings.Split(path, "."), value)
		}
	}
}

// underName finds a value in a person's words: behind its name on a line of its own, or all of them where nothing else was asked for.
func underName(answer *schemas.InquiryAnswer, need string) (any, bool) {
	title := titleOf(strings.TrimPrefix(need, contentData))
	for line := range strings.Lines(answer.Text) {
		label, value, found := strings.Cut(line, ":")
		label = strings.ReplaceAll(strings.TrimSpace(label), "_", " ")
		if value = strings.TrimSpace(value); found && value != "" && label != "" && (strings.EqualFold(label, title) || strings.EqualFold(label, lastOf(title, need))) {
			return value, true
		}
	}
	return strings.TrimSpace(answer.Text), len(answer.Needs) == 1
}

// titleOf is what people are asked for.
func titleOf(path string) string {
	return strings.NewReplacer("[]", "", "_", " ", ".", " ").Replace(path)
}

// lastOf is the title of the last part of a path.
func lastOf(title, need string) string {
	if dot := strings.LastIndexByte(need, '.'); dot >= 0 {
		return titleOf(need[dot+1:])
	}
	return title
}

// at is what stands at a path.
func at(values map[string]any, path []string) (any, bool) {
	value, found := values[path[0]]
	if inner, is := value.(map[string]any); is && len(path) > 1 {
		return at(inner, path[1:])
	}
	return value, found && len(path) == 1
}

// put sets what is not there yet; a list or an object stays as it is.
func put(data map[string]any, path []string, value any) {
	switch have := data[path[0]].(type) {
	case map[string]any:
		if len(path) > 1 {
			put(have, path[1:], value)
		}
	case []any:
		if list, is := value.([]any); is && len(path) == 1 {
			data[path[0]] = list
		}
	default:
		if len(path) == 1 {
			data[path[0]] = value
			return
		}
		inner := map[string]any{}
		data[path[0]] = inner
		put(inner, path[1:], value)
	}
}

const contentData = "content_data."

// needsOf asks for what a template lacks. Of the entries of a list the list is asked for.
func needsOf(missing []string) []schemas.Need {
	var needs []schemas.Need
	for _, path := range missing[:min(len(missing), schemas.MaxNeeds)] {
		need := schemas.Need{Title: titleOf(path)}
		list, _, inList := strings.Cut(path, "[]")
		if need.Name = contentData + strings.Trim(list, "."); inList {
			need.Schema = jsontext.Value(`{"type":"array"}`)
		}
		needs = append(needs, need)
	}
	return needs
}
