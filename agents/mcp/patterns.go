package mcp

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/validation"
)

// Patterns of JSON Schema are those of ECMA-262. What has no meaning for Go's expressions, which take linear time, is left
// to the server: lookaheads, lookbehinds, backreferences, \uXXXX and long names of properties.

// maxUnread bounds the patterns that a pin names.
const maxUnread = 100

// HeldInput returns the input schema without the patterns that are left to the server.
func (t *Tool) HeldInput() jsontext.Value {
	held, _ := withoutUnreadPatterns(t.InputSchema)
	return held
}

// HeldOutput returns the output schema without the patterns that are left to the server.
func (t *Tool) HeldOutput() jsontext.Value {
	held, _ := withoutUnreadPatterns(t.OutputSchema)
	return held
}

// UnreadPatterns returns the patterns of both schemas that are left to the server, in their order and once each.
func (t *Tool) UnreadPatterns() []string {
	_, unread := withoutUnreadPatterns(t.InputSchema)
	_, more := withoutUnreadPatterns(t.OutputSchema)
	unread = append(unread, more...)
	slices.Sort(unread)
	unread = slices.Compact(unread)
	return unread[:min(len(unread), maxUnread)]
}

// withoutUnreadPatterns returns a schema without the patterns that cannot be read, and these. With a name of
// patternProperties that cannot be read, the schema does not refuse further properties either. A schema whose patterns
// can all be read, and one that is no JSON, is returned as it is.
func withoutUnreadPatterns(schema jsontext.Value) (held jsontext.Value, unread []string) {
	var root any
	if len(schema) == 0 || schemas.Unmarshal(schema, &root) != nil {
		return schema, nil
	}
	if found, _ := patternsIn(root); len(found) == 0 {
		return schema, nil
	}
	var names bool
	dropPatterns(root, false, &unread, &names)
	if len(unread) == 0 {
		return schema, nil
	}
	if names {
		dropUnevaluated(root, false)
	}
	body, err := schemas.Marshal(root)
	if err != nil {
		return schema, unread
	}
	return body, unread
}

// dropPatterns takes unread patterns out of a node. The members of one with names are no keywords.
func dropPatterns(node any, names bool, unread *[]string, byName *bool) {
	switch node := node.(type) {
	case []any:
		for _, member := range node {
			dropPatterns(member, false, unread, byName)
		}
	case map[string]any:
		if !names {
			dropNegated(node, unread, byName)
			dropPatternsOf(node, unread, byName)
		}
		for keyword, member := range node {
			if names || !isValueKeyword(keyword) {
				dropPatterns(member, !names && named(keyword), unread, byName)
			}
		}
	}
}

// dropNegated takes keywords out of a schema under which less says more: without a pattern, "not" would refuse every value. Those that
// refer elsewhere go as well, since a pattern may stand there. It is for schemas of which some patterns are unread.
func dropNegated(schema map[string]any, unread *[]string, byName *bool) {
	for keyword, others := range map[string][]string{
		"not": nil, "oneOf": nil, "if": {"then", "else"}, "contains": {"minContains", "maxContains"},
	} {
		found, refers := patternsIn(schema[keyword])
		if len(found) == 0 && !refers {
			continue
		}
		*unread, *byName = append(*unread, found...), true // what is gone may have named properties
		for _, gone := range append(others, keyword) {
			delete(schema, gone)
		}
	}
}

// patternsIn returns the unread patterns in a node and below it, and whether anything there refers elsewhere.
func patternsIn(node any) (unread []string, refers bool) {
	add := func(member any) {
		more, also := patternsIn(member)
		unread, refers = append(unread, more...), refers || also
	}
	switch node := node.(type) {
	case []any:
		for _, member := range node {
			add(member)
		}
	case map[string]any:
		if pattern, is := node["pattern"].(string); is && !isReadable(pattern) {
			unread = append(unread, pattern)
		}
		for keyword, member := range node {
			if keyword == "patternProperties" {
				properties, _ := member.(map[string]any)
				for pattern := range properties {
					if !isReadable(pattern) {
						unread = append(unread, pattern)
					}
				}
			}
			refers = refers || keyword == "$ref" || keyword == "$dynamicRef"
			add(member)
		}
	}
	return unread, refers
}

// dropPatternsOf takes unread patterns out of a schema itself.
func dropPatternsOf(schema map[string]any, unread *[]string, byName *bool) {
	if pattern, is := schema["pattern"].(string); is && !isReadable(pattern) {
		*unread = append(*unread, pattern)
		delete(schema, "pattern")
	}
	properties, _ := schema["patternProperties"].(map[string]any)
	for pattern := range properties {
		if !isReadable(pattern) {
			*unread, *byName = append(*unread, pattern), true
			delete(properties, pattern)
			delete(schema, "additionalProperties")
		}
	}
}

// dropUnevaluated takes unevaluatedProperties out of a node and all below it.
func dropUnevaluated(node any, names bool) {
	switch node := node.(type) {
	case []any:
		for _, member := range node {
			dropUnevaluated(member, false)
		}
	case map[string]any:
		if !names {
			delete(node, "unevaluatedProperties")
		}
		for keyword, member := range node {
			if names || !isValueKeyword(keyword) {
				dropUnevaluated(member, !names && named(keyword))
			}
		}
	}
}

// isValueKeyword reports whether a keyword holds values, and no schemas.
func isValueKeyword(keyword string) bool {
	return slices.Contains([]string{"enum", "const", "default", "examples", "required", "dependentRequired"}, keyword)
}

func isReadable(pattern string) bool { return validation.CheckPattern(pattern) == nil }
