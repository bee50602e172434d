package strictyaml

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"

	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// json reads a value whose shape only its receiver knows, as canonical JSON.
func (d *decoder) json(node ast.Node, into *jsontext.Value, path string) {
	value, ok := d.free(node, path)
	if !ok {
		return
	}
	body, err := schemas.Marshal(value)
	if err != nil {
		d.problem(start(node), path, "%v", err)
		return
	}
	*into = body
}

func (d *decoder) free(node ast.Node, path string) (any, bool) {
	node = d.resolve(node, path)
	switch n := node.(type) {
	case nil:
		return nil, false
	case *ast.NullNode:
		return nil, true
	case *ast.BoolNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode:
		number, err := strconv.ParseFloat(n.GetToken().Value, 64)
		if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
			d.problem(start(node), path, "%s is not a number such as 10 or 2.5", n.GetToken().Value)
			return nil, false
		}
		return number, true
	case *ast.InfinityNode, *ast.NanNode:
		d.problem(start(node), path, "a number has to be finite")
		return nil, false
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, entry := range n.Values {
			value, ok := d.free(entry, fmt.Sprintf("%s[%d]", path, i))
			if !ok {
				return nil, false
			}
			list[i] = value
		}
		return list, true
	case ast.MapNode:
		object := map[string]any{}
		for iter := n.MapRange(); iter.Next(); {
			key := iter.Key().GetToken().Value
			value, ok := d.free(iter.Value(), diagnostic.Under(path, key))
			if !ok {
				return nil, false
			}
			object[key] = value
		}
		return object, true
	}
	return d.expanded(node, path)
}

// fraction reads a number that need not be whole.
func (d *decoder) fraction(node ast.Node, path string, tag reflect.StructTag, accept func(float64)) {
	kind := ast.FloatType
	if node.Type() == ast.IntegerType {
		kind = ast.IntegerType
	}
	text, ok := d.bare(node, path, kind, "a number")
	if !ok {
		return
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) || number < 0 {
		d.problem(start(node), path, "%q is not a number of 0 or more", text)
		return
	}
	if most, set := Bound(tag, "max"); set && number > float64(most) {
		d.problem(start(node), path, "%s is more than %d", text, most)
		return
	}
	accept(number)
}
