package strictyaml

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A Place is where something stands in a file. Line and Column count from 1, in characters; 0 is unknown.
type Place struct {
	Line, Column int
	File         string // empty for the file that was decoded
}

// At returns where the value at a path stands, or the section around one that was left out.
func At(places map[string]Place, path string) Place {
	at := places[path]
	for at.Line == 0 && path != "" {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
		at = places[path]
	}
	return at
}

type anchorCollector map[string]ast.Node

func (c anchorCollector) Visit(node ast.Node) ast.Visitor {
	if anchor, ok := node.(*ast.AnchorNode); ok {
		c[anchor.Name.GetToken().Value] = anchor.Value
	}
	return c
}

func isText(node ast.Node) bool {
	return node.Type() == ast.StringType || node.Type() == ast.LiteralType
}

func isScalar(node ast.Node) bool {
	_, compound := node.(ast.MapNode)
	_, list := node.(*ast.SequenceNode)
	return !compound && !list
}

func textOf(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	default:
		return ""
	}
}

// start returns where a node begins.
func start(node ast.Node) Place {
	if mapping, ok := node.(*ast.MappingNode); ok && !mapping.IsFlowStyle && len(mapping.Values) > 0 {
		return placeOf(mapping.Values[0].Key.GetToken())
	}
	return placeOf(node.GetToken())
}

func placeOf(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{}
	}
	return Place{Line: t.Position.Line, Column: t.Position.Column}
}
