package schemas

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func asyncAPI(tb testing.TB) node {
	tb.Helper()
	text, err := AsyncAPI()
	if err != nil {
		tb.Fatal(err)
	}
	var doc node
	if err := yaml.UnmarshalWithOptions(text, &doc, yaml.Strict()); err != nil {
		tb.Fatal(err)
	}
	return doc
}

func members(tb testing.TB, of any) node {
	tb.Helper()
	object, ok := of.(node)
	if !ok {
		tb.Fatalf("%v is not an object", of)
	}
	return object
}

// Every subject of the bus is a channel, with every word of its own a parameter.
func TestAsyncAPIChannels(t *testing.T) {
	t.Parallel()
	doc := asyncAPI(t)
	if doc["asyncapi"] != "3.0.0" {
		t.Errorf("asyncapi: %v", doc["asyncapi"])
	}
	var addresses []string
	for name, channel := range members(t, doc["channels"]) {
		channel := members(t, channel)
		address, _ := channel["address"].(string)
		addresses = append(addresses, address)
		if channel["description"] == nil || len(members(t, channel["messages"])) == 0 {
			t.Errorf("channel %s has no description or no message", name)
		}
		parameters := members(t, channel["parameters"])
		for parameter := range parameters {
			if !strings.Contains(address, "{"+parameter+"}") {
				t.Errorf("channel %s: parameter %s is not in its address", name, parameter)
			}
		}
		if strings.Count(address, "{") != len(parameters) {
			t.Errorf("channel %s: %d parameters for %s", name, len(parameters), address)
		}
	}
	slices.Sort(addresses)
	want := []string{
		"podium.agent.{agent}.alive",
		"podium.agent.{agent}.announce",
		"podium.agent.{agent}.artifact",
		"podium.agent.{agent}.cancel",
		"podium.agent.{agent}.partial",
		"podium.agent.{agent}.permit.{shard}",
		"podium.agent.{agent}.permitted",
		"podium.agent.{agent}.progress",
		"podium.agent.{agent}.progress.{shard}",
		"podium.agent.{agent}.request",
		"podium.agent.{agent}.response",
		"podium.agent.{agent}.response.{shard}",
		"podium.control.{shard}",
		"podium.dead.{reason}.{shard}",
		"podium.in.{adapter}.{shard}",
		"podium.session.{shard}.{session}",
		"podium.shard.{shard}",
		"podium.source.{adapter}.status",
	}
	if !slices.Equal(addresses, want) {
		t.Errorf("channels\n%s\nwant\n%s", strings.Join(addresses, "\n"), strings.Join(want, "\n"))
	}
}

// Every type of event is a message that some channel carries, with the schema of
// its body.
func TestAsyncAPIMessages(t *testing.T) {
	t.Parallel()
	doc := asyncAPI(t)
	carried := map[string]bool{}
	for _, channel := range members(t, doc["channels"]) {
		for _, message := range members(t, members(t, channel)["messages"]) {
			carried[members(t, message)["$ref"].(string)] = true
		}
	}
	var named []string
	for key, message := range members(t, members(t, doc["components"])["messages"]) {
		message := members(t, message)
		if !carried["#/components/messages/"+key] {
			t.Errorf("no channel carries %s", key)
		}
		name, isEvent := message["name"].(string)
		if !isEvent {
			continue
		}
		named = append(named, name)
		schema := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, "podium."), ".v1"), ".", "_")
		if ref := members(t, message["payload"])["$ref"]; ref != "./"+schema+schemaSuffix {
			t.Errorf("the payload of %s is %v", name, ref)
		}
	}
	slices.Sort(named)
	if want := eventTypes(t); !slices.Equal(named, want) {
		t.Errorf("messages %q, want %q", named, want)
	}
}

// eventTypes reads the values of the constants Type… from the source.
func eventTypes(tb testing.TB) []string {
	tb.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		tb.Fatal(err)
	}
	var types []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Type") {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				tb.Fatal(err)
			}
			types = append(types, value)
		}
		return true
	})
	slices.Sort(types)
	return types
}

// Every $ref leads somewhere: into the document or to a file beside it.
func TestAsyncAPIReferences(t *testing.T) {
	t.Parallel()
	doc := asyncAPI(t)
	count := 0
	var visit func(value any)
	visit = func(value any) {
		switch value := value.(type) {
		case node:
			if ref, ok := value["$ref"].(string); ok {
				count++
				resolveReference(t, doc, ref)
			}
			for _, inner := range value {
				visit(inner)
			}
		case []any:
			for _, inner := range value {
				visit(inner)
			}
		}
	}
	visit(doc)
	if count < 50 {
		t.Errorf("only %d references were found", count)
	}
}

func resolveReference(tb testing.TB, doc node, ref string) {
	tb.Helper()
	if file, ok := strings.CutPrefix(ref, "./"); ok {
		if _, err := Schema(strings.TrimSuffix(file, schemaSuffix)); err != nil {
			tb.Errorf("%s: %v", ref, err)
		}
		return
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		tb.Errorf("%s is neither in the document nor a file beside it", ref)
		return
	}
	at := any(doc)
	for step := range strings.SplitSeq(path, "/") {
		object, ok := at.(node)
		if !ok || object[step] == nil {
			tb.Errorf("%s leads nowhere", ref)
			return
		}
		at = object[step]
		if next, ok := at.(node)["$ref"].(string); ok && strings.HasPrefix(next, "#/components/") {
			at = members(tb, members(tb, doc["components"])[strings.Split(next, "/")[2]])[strings.Split(next, "/")[3]]
		}
	}
}

// Every reason for quarantine is a token that the subject allows.
func TestAsyncAPIReasons(t *testing.T) {
	t.Parallel()
	parameters := members(t, members(t, asyncAPI(t)["components"])["parameters"])
	var reasons []string
	for _, reason := range members(t, parameters["reason"])["enum"].([]any) {
		reasons = append(reasons, reason.(string))
	}
	slices.Sort(reasons)
	if want := declaredConstants(t)["QuarantineReason"]; !slices.Equal(reasons, want) {
		t.Errorf("reasons %q, want %q", reasons, want)
	}
}
