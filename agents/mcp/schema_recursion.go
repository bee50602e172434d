package mcp

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

var (
	errAmbiguous = errors.New("it refers to itself in two ways for the same part of the data, so that data which are deep would be looked at without end")
	errEndless   = errors.New("it refers to itself for the same part of the data")
)

// A step leads from a schema to one for a part of the data.
type step struct {
	part  string // a name behind a point, a position behind a bracket; the sign alone is any
	rest  bool   // it is for what the others of the same schema are not for
	owner int
	to    int
}

// meets reports whether two steps can lead to the same part.
func (s *step) meets(other *step) bool {
	if s.owner == other.owner && s.rest != other.rest {
		return false
	}
	return s.part[0] == other.part[0] && (s.part == other.part || len(s.part) == 1 || len(other.part) == 1)
}

// A graph is a schema, with a node for each that stands in it.
type graph struct {
	count *counter
	nodes map[string]int // by pointer
	same  [][]int        // schemas for the same data
	steps [][]step
}

// recurses fails on a schema in which one kind of data is looked at more and more often the deeper it is. That is so if, among the schemas that lead
// to each other in a circle, one leads on in two ways for the same part.
func (c *counter) recurses() error {
	g := &graph{count: c, nodes: map[string]int{}}
	if _, err := g.node("", c.root); err != nil {
		return err
	}
	circles := g.circles()
	for n := range g.same {
		var steps []step
		if err := g.onward(n, circles, map[int]bool{}, map[int]bool{}, &steps); err != nil {
			return err
		}
		for i := range steps {
			if slices.ContainsFunc(steps[:i], func(other step) bool { return other.meets(&steps[i]) }) {
				return errAmbiguous
			}
		}
	}
	return nil
}

// onward collects the steps that stay in the circle of a schema, from it and from those for the same data.
func (g *graph) onward(n int, circles []int, on, seen map[int]bool, steps *[]step) error {
	if on[n] {
		return errEndless
	}
	if seen[n] {
		return errAmbiguous
	}
	on[n], seen[n] = true, true
	defer delete(on, n)
	for _, one := range g.steps[n] {
		if circles[one.to] == circles[n] {
			*steps = append(*steps, one)
		}
	}
	for _, next := range g.same[n] {
		if circles[next] == circles[n] {
			if err := g.onward(next, circles, on, seen, steps); err != nil {
				return err
			}
		}
	}
	return nil
}

// node adds what stands at a pointer, and all that it leads to.
func (g *graph) node(pointer string, value any) (int, error) {
	if n, known := g.nodes[pointer]; known {
		return n, nil
	}
	n := len(g.same)
	g.nodes[pointer] = n
	g.same, g.steps = append(g.same, nil), append(g.steps, nil)
	keywords, is := value.(map[string]any)
	if !is {
		return n, nil
	}
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		if err := g.keyword(n, pointer, keyword, keywords[keyword]); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (g *graph) keyword(n int, pointer, keyword string, value any) error {
	below := pointer + "/" + escapePointer(keyword)
	switch keyword {
	case "$ref", "$dynamicRef", "$recursiveRef":
		reference, _ := value.(string)
		target, at, err := g.count.target(reference)
		if err != nil {
			return err
		}
		return g.add(n, nil, at, target)
	case "not", "if", "then", "else":
		return g.add(n, nil, below, value)
	case "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies":
		return g.each(n, below, value, func(string) *step { return nil })
	case "properties":
		return g.each(n, below, value, func(name string) *step { return &step{part: "." + name} })
	case "patternProperties":
		return g.each(n, below, value, func(string) *step { return &step{part: "."} })
	case "prefixItems":
		return g.each(n, below, value, func(at string) *step { return &step{part: "[" + at} })
	case "additionalProperties", "unevaluatedProperties":
		return g.add(n, &step{part: ".", rest: true}, below, value)
	case "contains":
		return g.add(n, &step{part: "["}, below, value)
	case "items", "additionalItems", "unevaluatedItems":
		if _, list := value.([]any); list {
			return g.each(n, below, value, func(at string) *step { return &step{part: "[" + at} })
		}
		return g.add(n, &step{part: "[", rest: true}, below, value)
	}
	return nil
}

// each adds every entry of a list, or member of an object.
func (g *graph) each(n int, pointer string, value any, by func(name string) *step) error {
	switch value := value.(type) {
	case []any:
		for i, entry := range value {
			at := strconv.Itoa(i)
			if err := g.add(n, by(at), pointer+"/"+at, entry); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if err := g.add(n, by(name), pointer+"/"+escapePointer(name), value[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// add has a schema lead to another one, by a step or for the same data.
func (g *graph) add(n int, by *step, pointer string, value any) error {
	to, err := g.node(pointer, value)
	if err != nil {
		return err
	}
	if by == nil {
		g.same[n] = append(g.same[n], to)
		return nil
	}
	by.owner, by.to = n, to
	g.steps[n] = append(g.steps[n], *by)
	return nil
}

func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// circles numbers the schemas so that those which lead to each other have the same number (Tarjan).
func (g *graph) circles() []int {
	t := &tarjan{graph: g, index: make([]int, len(g.same)), low: make([]int, len(g.same)), circle: make([]int, len(g.same))}
	for n := range g.same {
		if t.index[n] == 0 {
			t.visit(n)
		}
	}
	return t.circle
}

type tarjan struct {
	*graph

	index, low, circle []int // circle is 0 while a node is on the stack
	stack              []int
	visited, found     int
}

func (t *tarjan) visit(n int) {
	t.visited++
	t.index[n], t.low[n] = t.visited, t.visited
	t.stack = append(t.stack, n)
	next := slices.Clone(t.same[n])
	for _, one := range t.steps[n] {
		next = append(next, one.to)
	}
	for _, to := range next {
		if t.index[to] == 0 {
			t.visit(to)
			t.low[n] = min(t.low[n], t.low[to])
		} else if t.circle[to] == 0 {
			t.low[n] = min(t.low[n], t.index[to])
		}
	}
	if t.low[n] != t.index[n] {
		return
	}
	t.found++
	for {
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if t.circle[last] = t.found; last == n {
			return
		}
	}
}
