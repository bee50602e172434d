package document

import (
	"bytes"
	"cmp"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	texttemplate "text/template"
	"text/template/parse"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

const (
	ending = ".md"
	// Layout is the name of the page around documents in HTML, among the files of the templates.
	Layout = "layout.html"
)

// Templates are what documents are made from. They are never written to once they are read.
type Templates struct {
	byName map[string]*texttemplate.Template // in lower case
	names  []string
	layout *template.Template
}

// A Fault is something wrong with a file of the templates.
type Fault struct {
	File         string
	Line, Column int // 1 is first; the column is in characters
	Message      string
}

// ParseTemplates reads templates from their files, by name. Files that are none are left alone.
func ParseTemplates(files map[string][]byte) (*Templates, []Fault) {
	read := &Templates{byName: map[string]*texttemplate.Template{}, layout: pageLayout()}
	var faults []Fault
	for _, file := range slices.Sorted(maps.Keys(files)) {
		text := string(files[file])
		name, is := strings.CutSuffix(file, ending)
		switch {
		case !is && file != Layout:
		case !utf8.ValidString(text):
			faults = append(faults, Fault{File: file, Line: 1, Column: 1, Message: "it is not UTF-8"})
		case file == Layout:
			layout, fault := parseLayout(text)
			faults = append(faults, fault...)
			read.layout = layout
		case read.byName[strings.ToLower(name)] != nil:
			faults = append(faults, Fault{File: file, Line: 1, Column: 1, Message: "another template has this name, but for capital letters"})
		default:
			parsed, fault := parseTemplate(file, text)
			faults = append(faults, fault...)
			read.byName[strings.ToLower(name)] = parsed
			read.names = append(read.names, name)
		}
	}
	if len(read.names) == 0 && len(faults) == 0 {
		faults = append(faults, Fault{Message: "there is no template: a file such as letter" + ending})
	}
	return read, faults
}

// Names are those of the templates, in order.
func (t *Templates) Names() []string { return t.names }

// InputSchema is the JSON Schema of the arguments (G-10), with the names of the templates as the documents that there are, if
// they are known.
func InputSchema(templates []string) jsontext.Value {
	known := map[string]any{"type": "string"}
	if len(templates) > 0 {
		known = map[string]any{"enum": templates}
	}
	names, err := schemas.Marshal(known)
	if err != nil {
		return nil // texts can be written
	}
	return jsontext.Value(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["document_type", "content_data"],
  "properties": {
    "document_type": ` + string(names) + `,
    "content_data": {"type": "object"},
    "template": ` + string(names) + `
  }
}`)
}

// placed finds line and column of an offset in a text.
func placed(file, text string, offset int, message string) Fault {
	before := text[:min(offset, len(text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return Fault{File: file, Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line), Message: message}
}

// templateError is what text/template and html/template say of a text: name, line, sometimes a column, and what is wrong.
var templateError = regexp.MustCompile(`^(?:html/)?template: ?[^:]*:(\d+):(?:(\d+):)? ?(.*)$`)

// faultOf places the error of a template. Without a column it is where the first place for data stands in the line.
func faultOf(file, text string, err error) []Fault {
	found := templateError.FindStringSubmatch(err.Error())
	if found == nil {
		return []Fault{{File: file, Line: 1, Column: 1, Message: err.Error()}}
	}
	fault := Fault{File: file, Column: 1, Message: found[3]}
	fault.Line, _ = strconv.Atoi(found[1])
	lines := strings.Split(text, "\n")
	line := lines[min(max(fault.Line, 1), len(lines))-1]
	at := max(0, strings.Index(line, "{{"))
	if bytesBefore, err := strconv.Atoi(found[2]); err == nil {
		at = min(bytesBefore, len(line))
	}
	fault.Column = 1 + utf8.RuneCountInString(line[:at])
	return []Fault{fault}
}

func parseTemplate(file, text string) (*texttemplate.Template, []Fault) {
	parsed, err := texttemplate.New(strings.TrimSuffix(file, ending)).Funcs(new(filling).functions()).Parse(text)
	if err != nil {
		return nil, faultOf(file, text, err)
	}
	if parsed.Tree == nil || len(bytes.TrimSpace([]byte(text))) == 0 {
		return nil, []Fault{{File: file, Line: 1, Column: 1, Message: "it is empty"}}
	}
	r := &rewriter{file: file, text: text}
	r.list(parsed.Root, scope{root: true})
	if len(parsed.Templates()) > 1 {
		at := max(0, max(strings.Index(text, "define"), strings.Index(text, "block")))
		r.fault(parse.Pos(at), "a template has none of its own: define and block mean nothing here")
	}
	for _, picture := range regexp.MustCompile(`!\[[^\]]*\]\(`).FindAllStringIndex(text, -1) {
		r.fault(parse.Pos(picture[0]), "pictures cannot be drawn: put them into "+Layout)
	}
	return parsed, r.faults
}

func parseLayout(text string) (*template.Template, []Fault) {
	parsed, err := template.New(Layout).Parse(text)
	if err != nil {
		return nil, faultOf(Layout, text, err)
	}
	const trial = "the body of a document"
	var page bytes.Buffer
	if err := parsed.Execute(&page, pageData{Title: "a title", Language: "en", Body: trial}); err != nil {
		return nil, faultOf(Layout, text, err)
	}
	if !strings.Contains(page.String(), trial) {
		return nil, []Fault{{File: Layout, Line: 1, Column: 1, Message: "it has no {{.Body}}, so documents would be empty"}}
	}
	return parsed, nil
}

// A scope is what the dot is: the data, or a part of them.
type scope struct {
	root bool
	path string // of the part; [] stands for any entry of a list
}

func (s scope) of(names []string) string {
	path := strings.Join(names, ".")
	if s.root || path == "" || s.path == "" {
		return cmp.Or(path, s.path)
	}
	return s.path + "." + path
}

// A rewriter has what is put into a document told to whoever fills it, and written as text of Markdown.
type rewriter struct {
	file, text string
	line       string // of the template, as far as it has been read
	code       bool   // inside of a fence
	faults     []Fault
}

func (r *rewriter) fault(at parse.Pos, message string) {
	r.faults = append(r.faults, placed(r.file, r.text, int(at), message))
}

func (r *rewriter) list(list *parse.ListNode, dot scope) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			r.read(string(n.Text))
		case *parse.ActionNode:
			r.needed(n.Pipe, dot)
			if len(n.Pipe.Decl) == 0 {
				r.shown(n)
			}
		case *parse.IfNode:
			r.branches(&n.BranchNode, dot, dot)
		case *parse.WithNode:
			r.branches(&n.BranchNode, dot, scope{path: pathOf(n.Pipe, dot)})
		case *parse.RangeNode:
			path := pathOf(n.Pipe, dot)
			if n.ElseList == nil {
				r.needed(n.Pipe, dot)
				n.Pipe.Cmds = append(n.Pipe.Cmds, command(n.Pos, parse.NewIdentifier("entries").SetPos(n.Pos)))
			}
			r.branches(&n.BranchNode, dot, scope{path: path + "[]"})
		case *parse.TemplateNode:
			r.fault(n.Pos, "a template has none of its own: template means nothing here")
		}
	}
}

func (r *rewriter) branches(branch *parse.BranchNode, dot, inside scope) {
	r.list(branch.List, inside)
	r.list(branch.ElseList, dot)
}

// read follows the text of a template, to know where in its line a place for data is.
func (r *rewriter) read(text string) {
	for line := range strings.Lines(text) {
		r.line += line
		if !strings.HasSuffix(line, "\n") {
			continue
		}
		if fence := strings.TrimSpace(r.line); strings.HasPrefix(fence, "```") || strings.HasPrefix(fence, "~~~") {
			r.code = !r.code
		}
		r.line = ""
	}
}

// shown has a value written as text: on one line where Markdown ends a row, a heading or an entry with the line.
func (r *rewriter) shown(action *parse.ActionNode) {
	if r.code || strings.Count(r.line, "`")%2 == 1 {
		r.fault(action.Pos, "a value inside of code: its marks would be seen")
	}
	write := "text"
	if start := strings.TrimLeft(r.line, " "); start != "" && strings.ContainsRune("|#>-*+0123456789", rune(start[0])) {
		write = "line"
	}
	action.Pipe.Cmds = append(action.Pipe.Cmds, command(action.Pos, parse.NewIdentifier(write).SetPos(action.Pos)))
}

// needed has every value that a pipeline reads reported, with its path.
func (r *rewriter) needed(pipe *parse.PipeNode, dot scope) {
	for _, cmd := range pipe.Cmds {
		for i, argument := range cmd.Args {
			cmd.Args[i] = r.reported(argument, dot)
		}
	}
}

func (r *rewriter) reported(node parse.Node, dot scope) parse.Node {
	var path string
	switch n := node.(type) {
	case *parse.PipeNode:
		r.needed(n, dot)
		return n
	case *parse.FieldNode:
		path = dot.of(n.Ident)
	case *parse.DotNode:
		if dot.root {
			r.fault(n.Pos, "{{.}} is all of the data: name a member")
		}
		path = dot.path
	case *parse.VariableNode:
		path = strings.Join(n.Ident[1:], ".")
		if n.Ident[0] != "$" {
			path = strings.Join(n.Ident, ".")
		}
	case *parse.ChainNode:
		path = strings.Join(n.Field, ".")
	default:
		return node
	}
	at := node.Position()
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: at, Cmds: []*parse.CommandNode{command(at,
		parse.NewIdentifier("value").SetPos(at), &parse.StringNode{NodeType: parse.NodeString, Pos: at, Quoted: strconv.Quote(path), Text: path}, node)}}
}

func command(at parse.Pos, arguments ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: arguments}
}

// pathOf is what a pipeline of nothing but a member reads.
func pathOf(pipe *parse.PipeNode, dot scope) string {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return ""
	}
	switch n := pipe.Cmds[0].Args[0].(type) {
	case *parse.FieldNode:
		return dot.of(n.Ident)
	case *parse.VariableNode:
		return strings.Join(n.Ident[1:], ".")
	}
	return dot.path
}
