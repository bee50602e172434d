package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// The bounds of a schema that a stranger has written: holding a value to it may cost no more than that.
const (
	maxSchema = 64 << 10 // bytes
	maxDepth  = 32
	maxNodes  = 10_000 // with each $ref as if its target stood there
	maxData   = 1 << 20
)

// bounded fails on a schema that is beyond the bounds. A few hundred bytes of references to each other can stand for
// millions of conditions.
func bounded(schema jsontext.Value) error {
	if len(schema) > maxSchema {
		return fmt.Errorf("it has %d bytes, more than %d", len(schema), maxSchema)
	}
	var root any
	if err := schemas.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	counting := counter{root: root, under: map[string]bool{}}
	return counting.walk(root, 0, false)
}

// A counter walks a schema as whoever holds a value to it does.
type counter struct {
	root  any
	nodes int
	under map[string]bool // references that lead to where it is; one that comes back is no more work by itself
}

// named holds the keywords whose members are named by whoever has written the schema.
func named(keyword string) bool {
	return slices.Contains([]string{"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}, keyword)
}

// walk counts a node and all below it. The members of one with names are no keywords.
func (c *counter) walk(node any, depth int, names bool) error {
	if c.nodes++; c.nodes > maxNodes {
		return fmt.Errorf("with its references it has more than %d nodes", maxNodes)
	}
	if depth > maxDepth {
		return fmt.Errorf("it is deeper than %d levels", maxDepth)
	}
	switch node := node.(type) {
	case []any:
		for _, entry := range node {
			if err := c.walk(entry, depth+1, false); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			if err := c.member(name, node[name], depth, names); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *counter) member(name string, value any, depth int, names bool) error {
	if names {
		return c.walk(value, depth+1, false)
	}
	if name == "$defs" || name == "definitions" {
		return nil // counted where a reference leads to them
	}
	if target, is := value.(string); is && (name == "$ref" || name == "$dynamicRef") {
		return c.follow(target, depth)
	}
	return c.walk(value, depth+1, named(name))
}

var errAnchor = errors.New("a $ref in it leads to a name; only pointers such as #/$defs/item can be counted")

func (c *counter) follow(reference string, depth int) error {
	if c.under[reference] {
		return nil
	}
	pointer, inside := strings.CutPrefix(reference, "#")
	pointer, err := url.PathUnescape(pointer)
	if err != nil || !inside || pointer != "" && pointer[0] != '/' {
		return errAnchor
	}
	target := c.root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch node := target.(type) {
		case map[string]any:
			target = node[token]
		case []any:
			at, err := strconv.Atoi(token)
			if err != nil || at < 0 || at >= len(node) {
				return errAnchor
			}
			target = node[at]
		}
	}
	c.under[reference] = true
	defer delete(c.under, reference)
	return c.walk(target, depth+1, false)
}
