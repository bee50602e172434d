// Package members gives members of JSON the names that an installation has for them: what an agent knows as person is
// called after those whom its users keep appointments for.
package members

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// Names are what members are called, by the names that an agent has for them. None changes nothing.
type Names map[string]string

// own is Names the other way around.
func (n Names) own() Names {
	own := make(Names, len(n))
	for name, called := range n {
		own[called] = name
	}
	return own
}

// Read returns what an installation has written in the names of the agent.
func (n Names) Read(value jsontext.Value) jsontext.Value { return renamed(value, n.own()) }

// Write returns what an agent says in the names of the installation.
func (n Names) Write(value jsontext.Value) jsontext.Value { return renamed(value, n) }

// Path returns a path of the agent, such as data.person, in the names of the installation.
func (n Names) Path(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if called, has := n[part]; has {
			parts[i] = called
		}
	}
	return strings.Join(parts, ".")
}

// renamed changes the names of members in a value of any depth, and in the lists of a JSON Schema that name members (required). What is no JSON stays.
func renamed(value jsontext.Value, names Names) jsontext.Value {
	if len(names) == 0 || len(value) == 0 {
		return value
	}
	var read any
	if schemas.Unmarshal(value, &read) != nil {
		return value
	}
	body, err := schemas.Marshal(walk(read, names))
	if err != nil {
		return value
	}
	return body
}

func walk(value any, names Names) any {
	switch value := value.(type) {
	case map[string]any:
		made := make(map[string]any, len(value))
		for name, member := range value {
			if list, is := member.([]any); is && name == "required" {
				member = listed(list, names)
			}
			if called, has := names[name]; has {
				name = called
			}
			made[name] = walk(member, names)
		}
		return made
	case []any:
		made := make([]any, len(value))
		for i, one := range value {
			made[i] = walk(one, names)
		}
		return made
	}
	return value
}

func listed(list []any, names Names) []any {
	made := make([]any, len(list))
	for i, one := range list {
		made[i] = one
		if name, is := one.(string); is && names[name] != "" {
			made[i] = names[name]
		}
	}
	return made
}
