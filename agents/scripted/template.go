package scripted

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"podium/bus/agent"
	"podium/schemas"
)

// maxText bounds what a template says, in bytes.
const maxText = 64 << 10

// errTooLong reports a template that says more than maxText.
var errTooLong = errors.New("the text has more than 64 KiB")

// A Template is a text with places for what a request holds (Go text/template).
type Template struct{ parsed *template.Template }

// Names are those by which a template reads a request, as in {{.words}}.
func Names() []string {
	return []string{"words", "task", "arguments", "inputs", "answer", "answers", "entities", "message", "attachments", "language", "attempt"}
}

// ParseTemplate reads a template. It fails on one that cannot be read, and on a name that a request
// has not.
func ParseTemplate(text string) (*Template, error) {
	parsed, err := template.New("text").Option("missingkey=zero").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is no template: %s", strings.TrimPrefix(err.Error(), "template: text:"))
	}
	if parsed.Tree != nil { // there is none of an empty text
		if fault := faultOf(parsed.Root, true); fault != "" {
			return nil, errors.New(fault)
		}
	}
	return &Template{parsed: parsed}, nil
}

// fill returns the text for a request, without white space at its end. What the request does not have is nothing.
func (t *Template) fill(request *agent.Request) (string, error) {
	if t == nil {
		return "", nil
	}
	read, err := readable(request)
	if err != nil {
		return "", err
	}
	filled := boundedText{room: maxText}
	if err := t.parsed.Execute(&filled, read); err != nil {
		return "", err
	}
	return strings.TrimRight(strings.ReplaceAll(filled.text.String(), "<no value>", ""), " \t\r\n"), nil
}

// readable is what templates see of a request: what they name, as its JSON has it.
func readable(request *agent.Request) (map[string]any, error) {
	told := &request.Task().Context
	files := make([]string, len(told.Attachments))
	for i := range told.Attachments {
		files[i] = told.Attachments[i].Name
	}
	newest := schemas.InquiryAnswer{}
	if len(told.Answers) > 0 {
		newest = told.Answers[len(told.Answers)-1]
	}
	newest.Values = valuesOf(told.Answers)
	body, err := schemas.Marshal(map[string]any{
		"words": wordsOf(request), "task": request.Task().Description, "arguments": told.Arguments, "inputs": told.Inputs, "entities": told.Entities, "message": told.Message,
		"answer": newest, "answers": told.Answers,
		"attachments": files, "language": told.Language(), "attempt": request.Attempt,
	})
	if err != nil {
		return nil, err
	}
	var read map[string]any
	if err := schemas.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	for _, name := range Names() { // a member of what is not there is nothing as well
		if read[name] == nil {
			read[name] = map[string]any{"from": map[string]any{}}
		}
	}
	return read, nil
}

// faultOf says what is wrong with a template that can be read: a name that no request has, or templates of its own,
// which could call each other without end. At tells whether the dot is the request: inside of with and range it
// is something else.
func faultOf(node parse.Node, at bool) string {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return ""
		}
		return first(n.Nodes, func(inner parse.Node) string { return faultOf(inner, at) })
	case *parse.ActionNode:
		return faultOf(n.Pipe, at)
	case *parse.IfNode:
		return first([]parse.Node{n.Pipe, n.List, n.ElseList}, func(inner parse.Node) string { return faultOf(inner, at) })
	case *parse.RangeNode:
		return faultInside(&n.BranchNode, at)
	case *parse.WithNode:
		return faultInside(&n.BranchNode, at)
	case *parse.PipeNode:
		if n == nil {
			return ""
		}
		return first(n.Cmds, func(command *parse.CommandNode) string { return faultOf(command, at) })
	case *parse.CommandNode:
		return first(n.Args, func(argument parse.Node) string { return faultOf(argument, at) })
	case *parse.ChainNode:
		return faultOf(n.Node, at)
	case *parse.TemplateNode:
		return "a text has no templates of its own: define, template and block mean nothing here"
	case *parse.FieldNode:
		if at && !slices.Contains(Names(), n.Ident[0]) {
			return unknown(n.Ident[0])
		}
	case *parse.VariableNode: // $ is the request everywhere
		if n.Ident[0] == "$" && len(n.Ident) > 1 && !slices.Contains(Names(), n.Ident[1]) {
			return unknown(n.Ident[1])
		}
	}
	return ""
}

func unknown(name string) string {
	return fmt.Sprintf("unknown {{.%s}}; it can be: %s", name, strings.Join(Names(), ", "))
}

// faultInside looks through what changes the dot.
func faultInside(branch *parse.BranchNode, at bool) string {
	if fault := faultOf(branch.Pipe, at); fault != "" {
		return fault
	}
	if fault := faultOf(branch.List, false); fault != "" {
		return fault
	}
	return faultOf(branch.ElseList, at)
}

// first returns the first fault in a list.
func first[Node any](nodes []Node, find func(Node) string) string {
	for _, node := range nodes {
		if fault := find(node); fault != "" {
			return fault
		}
	}
	return ""
}

type boundedText struct {
	text strings.Builder
	room int
}

var _ io.Writer = (*boundedText)(nil)

// Write implements io.Writer.
func (b *boundedText) Write(chunk []byte) (int, error) {
	if b.room -= len(chunk); b.room < 0 {
		return 0, errTooLong
	}
	return b.text.Write(chunk)
}
