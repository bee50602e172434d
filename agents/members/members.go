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

// renamed changes the names of members in a value of any depth, and in the lists of a JSON Schema that name members (required). What a member that it renames
// holds stays as it is, and so does what is no JSON.
func renamed(value jsontext.Value, names Names) jsontext.Value {
	if len(names) == 0 {
		return value
	}
	switch value.Kind() {
	case '{':
		return renamedObject(value, names)
	case '[':
		var list []jsontext.Value
		if schemas.Unmarshal(value, &list) != nil {
			return value
		}
		for i := range list {
			list[i] = renamed(list[i], names)
		}
		return written(list, value)
	}
	return value
}

func renamedObject(value jsontext.Value, names Names) jsontext.Value {
	var object map[string]jsontext.Value
	if schemas.Unmarshal(value, &object) != nil {
		return value
	}
	made := make(map[string]jsontext.Value, len(object))
	for name, member := range object {
		called, has := names[name]
		switch {
		case has:
			made[called] = member
		case name == "required":
			made[name] = renamedList(member, names)
		default:
			made[name] = renamed(member, names)
		}
	}
	return written(made, value)
}

func renamedList(value jsontext.Value, names Names) jsontext.Value {
	var list []string
	if schemas.Unmarshal(value, &list) != nil {
		return value
	}
	for i, name := range list {
		if called, has := names[name]; has {
			list[i] = called
		}
	}
	return written(list, value)
}

// written is a value as JSON, or else what it was made of.
func written(made any, otherwise jsontext.Value) jsontext.Value {
	body, err := schemas.Marshal(made)
	if err != nil {
		return otherwise
	}
	return body
}
