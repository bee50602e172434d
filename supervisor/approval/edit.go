package approval

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// ErrEdit reports a change of arguments that cannot be made.
var ErrEdit = errors.New("the change is no JSON object, or what comes of it is too large")

// Edit changes arguments as a JSON merge patch (RFC 7396) has it: members take the place of those of their name, null takes them away, all others stay.
// What comes of it fits into a record.
func Edit(given, change jsontext.Value) (jsontext.Value, error) {
	if change.Kind() != '{' || !change.IsValid() || schemas.Deep(change) || len(given) > 0 && given.Kind() != '{' {
		return nil, ErrEdit
	}
	edited, err := merged(given, change)
	if err != nil || len(edited) > schemas.RecordInlineLimit {
		return nil, ErrEdit
	}
	return edited, nil
}

func merged(given, change jsontext.Value) (jsontext.Value, error) {
	members, changes := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if err := schemas.Unmarshal(change, &changes); err != nil {
		return nil, err
	}
	if len(given) > 0 && given.Kind() == '{' {
		if err := schemas.Unmarshal(given, &members); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		switch value := changes[name]; value.Kind() {
		case 'n':
			delete(members, name)
		case '{':
			inner, err := merged(members[name], value)
			if err != nil {
				return nil, err
			}
			members[name] = inner
		default:
			members[name] = value
		}
	}
	return schemas.Marshal(members)
}

// Written returns the change of arguments that stands in a person's words below the one that decides: one JSON object, with or without marks of code around it. It is
// empty when there is none. ErrEdit is that there is something that was meant as one, so that the words are no agreement to what was asked: broken JSON, several objects, or
// a line that gives one of the arguments another way.
func Written(words string, arguments []string) (jsontext.Value, error) {
	_, rest, _ := strings.Cut(strings.TrimSpace(words), "\n")
	lines := strings.Split(rest, "\n")
	begins := slices.IndexFunc(lines, beginsEdit)
	if begins < 0 {
		if slices.ContainsFunc(lines, func(line string) bool { return gives(line, arguments) }) {
			return nil, ErrEdit
		}
		return nil, nil
	}
	text := strings.TrimSpace(strings.Join(lines[begins:], "\n"))
	if fenced, is := strings.CutPrefix(text, "```"); is {
		_, text, _ = strings.Cut(fenced, "\n") // the rest of the line names the language
	}
	decoder := jsontext.NewDecoder(strings.NewReader(text))
	value, err := decoder.ReadValue()
	if err != nil || value.Kind() != '{' {
		return nil, ErrEdit
	}
	change := slices.Clone(value)
	if behind := text[decoder.InputOffset():]; strings.ContainsAny(behind, "{}") {
		return nil, ErrEdit
	}
	return change, nil
}

// WithoutEdit returns the words of somebody who agrees without the change of arguments among them, if there is one that can be read.
func WithoutEdit(words string) string {
	at := 0
	for line := range strings.Lines(words) {
		if !beginsEdit(line) {
			at += len(line)
			continue
		}
		before, text := words[:at], words[at:]
		if fence := strings.TrimSpace(text); strings.HasPrefix(fence, "```") {
			_, text, _ = strings.Cut(fence, "\n")
		}
		decoder := jsontext.NewDecoder(strings.NewReader(text))
		if _, err := decoder.ReadValue(); err != nil {
			return words
		}
		return before + text[decoder.InputOffset():]
	}
	return words
}

// beginsEdit reports whether a line begins what is meant as a change of arguments.
func beginsEdit(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "```")
}

// gives reports whether a line gives one of some arguments its value.
func gives(line string, arguments []string) bool {
	name, _, is := strings.Cut(line, ":")
	if other, _, equals := strings.Cut(line, "="); equals && (!is || len(other) < len(name)) {
		name, is = other, true
	}
	return is && slices.ContainsFunc(arguments, func(argument string) bool {
		return strings.EqualFold(strings.Trim(name, " \t*-\"'`"), argument)
	})
}

// Example is a change that would change nothing, of one of some arguments; empty when there is none that anybody may change.
func Example(given jsontext.Value, sets []string) string {
	const longest = 60 // bytes
	members := map[string]jsontext.Value{}
	if len(given) == 0 || schemas.Unmarshal(given, &members) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if value := members[name]; len(name)+len(value) < longest && !slices.Contains(sets, name) {
			if body, err := schemas.Marshal(map[string]jsontext.Value{name: value}); err == nil {
				return string(body)
			}
		}
	}
	return ""
}
