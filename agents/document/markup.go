package document

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// layoutFile is the page around a document for which a deployment has none of its own.
//
//go:embed layout.html
var layoutFile string

func pageLayout() *template.Template { return template.Must(template.New(Layout).Parse(layoutFile)) }

// pageData is what a layout reads.
type pageData struct {
	Title, Language string
	Body            template.HTML
}

// A page is a document that has been filled.
type page struct {
	title, language string
	source          []byte // Markdown
	root            ast.Node
}

// markdown reads CommonMark with tables, and knows no HTML: it is text.
func markdown() goldmark.Markdown {
	inline := parser.DefaultInlineParsers()
	blocks := parser.DefaultBlockParsers()
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(without(blocks, parser.NewHTMLBlockParser())...),
			parser.WithInlineParsers(without(inline, parser.NewRawHTMLParser())...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(extension.Table),
	)
}

// without leaves out the parsers of HTML, which goldmark keeps as single values.
func without(parsers []util.PrioritizedValue, left any) []util.PrioritizedValue {
	var kept []util.PrioritizedValue
	for _, p := range parsers {
		if p.Value != left {
			kept = append(kept, p)
		}
	}
	return kept
}

// read makes a page of Markdown. Its title is the first heading, or the name of the template.
func read(source []byte, name, language string) *page {
	made := &page{title: name, language: language, source: source, root: markdown().Parser().Parse(text.NewReader(source))}
	var pictures []ast.Node
	titled := false
	_ = ast.Walk(made.root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering:
		case node.Kind() == ast.KindImage:
			pictures = append(pictures, node)
		case node.Kind() == ast.KindHeading && !titled:
			made.title, titled = made.words(node), true
		}
		return ast.WalkContinue, nil
	})
	for _, picture := range pictures { // the innermost is the last
		for child := picture.FirstChild(); child != nil; {
			next := child.NextSibling()
			picture.Parent().InsertBefore(picture.Parent(), picture, child)
			child = next
		}
		picture.Parent().RemoveChild(picture.Parent(), picture)
	}
	return made
}

// words is the text of a node without its marks.
func (p *page) words(node ast.Node) string {
	var said strings.Builder
	for _, s := range p.spans(node, span{}) {
		if s.end {
			said.WriteByte(' ')
		}
		said.WriteString(s.text)
	}
	return strings.Join(strings.Fields(said.String()), " ")
}

// html is the page as HTML, in a layout.
func (p *page) html(layout *template.Template) ([]byte, error) {
	var body, whole bytes.Buffer
	if err := markdown().Renderer().Render(&body, p.source, p.root); err != nil {
		return nil, err
	}
	//nolint:gosec // goldmark escapes all text and leaves out dangerous addresses, and HTML is not read
	err := layout.Execute(&whole, pageData{Title: p.title, Language: p.language, Body: template.HTML(body.String())})
	return whole.Bytes(), err
}

// unescaped is the text of Markdown as it is read: without backslashes, and with characters for their references.
func unescaped(source []byte) string {
	var said strings.Builder
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source) && util.IsPunct(source[i+1]):
			i++
			said.WriteByte(source[i])
		case c == '&':
			reference := source[i : i+1+bytes.IndexByte(source[i:], ';')]
			resolved := util.ResolveEntityNames(util.ResolveNumericReferences(reference))
			if len(reference) < 2 || bytes.Equal(resolved, reference) {
				said.WriteByte(c)
				continue
			}
			said.Write(resolved)
			i += len(reference) - 1
		default:
			said.WriteByte(c)
		}
	}
	return said.String()
}
