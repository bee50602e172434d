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
	if err := counting.walk(root, 0, false); err != nil {
		return err
	}
	return counting.recurses()
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
	text, isText := value.(string)
	switch {
	case isText && (name == "$ref" || name == "$dynamicRef" || name == "$recursiveRef"):
		return c.follow(text, depth)
	case isText && depth > 0 && (name == "$id" || name == "id" && c.draft4()):
		return errOwnID
	}
	return c.walk(value, depth+1, named(name))
}

var (
	errAnchor = errors.New("a $ref in it leads to a name; only pointers such as #/$defs/item can be counted")
	errOwnID  = errors.New("a part of it has an $id of its own, so that a $ref below means another place there")
)

// draft4 reports whether the schema is of the version in which id is what $id is in all others.
func (c *counter) draft4() bool {
	root, _ := c.root.(map[string]any)
	version, _ := root["$schema"].(string)
	return strings.Contains(version, "draft-04")
}

// follow counts what a reference leads to. One that leads to where it is does not count again: see recurses.
func (c *counter) follow(reference string, depth int) error {
	target, pointer, err := c.target(reference)
	if err != nil || c.under[pointer] {
		return err
	}
	c.under[pointer] = true
	defer delete(c.under, pointer)
	return c.walk(target, depth+1, false)
}

// target is what a reference leads to, and its pointer.
func (c *counter) target(reference string) (target any, pointer string, err error) {
	pointer, inside := strings.CutPrefix(reference, "#")
	pointer, err = url.PathUnescape(pointer)
	if err != nil || !inside || pointer != "" && pointer[0] != '/' {
		return nil, "", errAnchor
	}
	target = c.root
	if pointer == "" {
		return target, pointer, nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch node := target.(type) {
		case map[string]any:
			target = node[token]
		case []any:
			at, err := strconv.Atoi(token)
			if err != nil || at < 0 || at >= len(node) {
				return nil, "", errAnchor
			}
			target = node[at]
		}
	}
	return target, pointer, nil
}
