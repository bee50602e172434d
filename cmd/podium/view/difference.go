package view

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/chronicle"
	"podium/schemas"
	"podium/schemas/workflow"
)

// Difference tells in a line each what a session says and what it would say in that place, each one fact or none. Where a
// line tells both alike, it is the members of the fact that differ.
func Difference(session string, was, would schemas.Facts, at time.Time) (says, otherwise string) {
	says, otherwise = factsLine(session, was, at), factsLine(session, would, at)
	if says != otherwise {
		return says, otherwise
	}
	one, other := members(was), members(would)
	told, instead := []string{says}, []string{otherwise}
	for _, name := range slices.Sorted(maps.Keys(union(one, other))) {
		if string(one[name]) == string(other[name]) {
			continue
		}
		told, instead = append(told, name+" "+orNone(one[name])), append(instead, name+" "+orNone(other[name]))
	}
	return Line(strings.Join(told, "; "), differenceLength), Line(strings.Join(instead, "; "), differenceLength)
}

// differenceLength bounds a line that tells members of facts, in characters.
const differenceLength = 1000

func factsLine(session string, facts schemas.Facts, at time.Time) string {
	if len(facts) == 0 {
		return "nothing more"
	}
	if line := factLine(session, facts[0], at); line != "" {
		return Line(line, 0)
	}
	return strings.ReplaceAll(facts[0].Name(), "_", " ")
}

// members are those of a fact as the ledger has them.
func members(facts schemas.Facts) map[string]jsontext.Value {
	var read []map[string]map[string]jsontext.Value
	body, err := schemas.Marshal(facts)
	if err != nil || schemas.Unmarshal(body, &read) != nil || len(read) == 0 {
		return nil // facts that were read can be written
	}
	return read[0][facts[0].Name()]
}

func union(a, b map[string]jsontext.Value) map[string]jsontext.Value {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]jsontext.Value{}
	}
	maps.Copy(all, b)
	return all
}

// edits tells what whoever has agreed has changed of the arguments that they were asked about, each by the path of its name: what it was, and what it is.
func edits(run *workflow.RunHistory, kept *chronicle.Run, asked *workflow.Inquiry) []string {
	if !asked.Edited() {
		return nil
	}
	var given jsontext.Value
	switch task := run.Task(asked.Task); {
	case asked.Operation != nil:
		given = asked.Operation.Arguments
	case task != nil:
		before := *task
		before.Filled = kept.AskedAbout(asked.Inquiry)
		given = before.Arguments()
	}
	if len(given) == 0 {
		given = jsontext.Value("{}")
	}
	told := changed(nil, "", given, asked.Answered.Arguments)
	return slices.DeleteFunc(told, func(line string) bool { // these nobody writes: to agree sets them
		name, _, _ := strings.Cut(line, " ")
		return slices.Contains(asked.Sets, name)
	})
}

func changed(told []string, path string, was, is jsontext.Value) []string {
	one, other := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if was.Kind() == '{' && is.Kind() == '{' && schemas.Unmarshal(was, &one) == nil && schemas.Unmarshal(is, &other) == nil {
		for _, name := range slices.Sorted(maps.Keys(union(one, other))) {
			told = changed(told, strings.TrimPrefix(path+"."+name, "."), one[name], other[name])
		}
		return told
	}
	if bytes.Equal(inOneWay(was), inOneWay(is)) {
		return told
	}
	return append(told, strings.TrimSpace(path+" "+Line(orNone(was), shortLength)+" → "+Line(orNone(is), shortLength)))
}

// inOneWay is a value in the canonical way of writing; what is none is as it stands.
func inOneWay(value jsontext.Value) jsontext.Value {
	written := value.Clone()
	if written.Canonicalize() != nil {
		return value
	}
	return written
}

func orNone(value jsontext.Value) string {
	if len(value) == 0 {
		return "none"
	}
	return string(value)
}
