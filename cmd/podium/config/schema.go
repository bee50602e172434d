package config

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/config/script"
	"podium/cmd/podium/config/strictyaml"
	"podium/cmd/podium/egress"
	"podium/schemas"
)

// The forms of text that a schema can tell apart.
const (
	variablePattern    = `\$\{[A-Za-z_][A-Za-z0-9_]*\}`
	durationPattern    = `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
	destinationPattern = `^[^/@?#\s]+:[0-9]{1,5}$`
	datePattern        = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	namePattern        = `^[a-z0-9_-]{1,63}$`
	keywordPattern     = `^(/[\s\S]+/|\*?[^*]+\*?)$`
)

type object = map[string]any

//go:generate go test -run ^(TestSchemaFile|TestReference)$ . -update

// Schema returns the JSON Schema (draft 2020-12) of podium.yaml for editors. It
// refuses what the reader refuses, but for references between sections.
func Schema() []byte { return schemaOf(reflect.TypeFor[Config](), "podium.yaml") }

// ScriptSchema returns likewise the JSON Schema of the script of an agent.
func ScriptSchema() []byte { return schemaOf(reflect.TypeFor[script.Script](), "script") }

func schemaOf(file reflect.Type, title string) []byte {
	w := &schemaWriter{definitions: object{}}
	schema := w.section(file)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = title
	schema["$defs"] = w.definitions
	body, err := json.Marshal(schema, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic("config: schema: " + err.Error())
	}
	return append(body, '\n')
}

type schemaWriter struct{ definitions object }

func (w *schemaWriter) section(section reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range strictyaml.Fields(section) {
		property := w.value(f.Kind, f.Tag)
		if text := f.Tag.Get("doc"); text != "" {
			property["description"] = text
		}
		if value := f.Tag.Get("default"); value != "" {
			property["default"] = defaultOf(f.Kind, value)
		}
		properties[f.Key] = property
		if f.Required() {
			required = append(required, f.Key)
		}
	}
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (w *schemaWriter) value(kind reflect.Type, tag reflect.StructTag) object {
	switch kind {
	case reflect.TypeFor[schemas.Duration]():
		return orVariable(object{"type": "string", "pattern": durationPattern})
	case reflect.TypeFor[Size]():
		return orVariable(object{"type": "string", "pattern": sizePattern})
	case reflect.TypeFor[TextCheck]():
		return orVariable(object{"type": "boolean"}, object{"enum": []string{"text", "words"}})
	case reflect.TypeFor[Since]():
		return orVariable(object{"enum": []string{"now", "all"}}, object{"type": "string", "pattern": datePattern})
	case reflect.TypeFor[egress.Destination]():
		return orVariable(object{"enum": []string{"local", "public"}}, object{"type": "string", "pattern": destinationPattern})
	case reflect.TypeFor[jsontext.Value]():
		return object{"not": object{"type": "null"}} // a key without a value is a mistake
	}
	switch kind.Kind() {
	case reflect.Pointer:
		return w.value(kind.Elem(), tag)
	case reflect.Struct:
		return w.reference(kind)
	case reflect.Map:
		return object{
			"type": "object", "additionalProperties": w.value(kind.Elem(), ""),
			"propertyNames": object{"pattern": cmp.Or(tag.Get("keys"), namePattern)},
		}
	case reflect.Slice:
		list := object{"type": "array", "items": w.value(kind.Elem(), strictyaml.OfEntries(tag))}
		if least, ok := strictyaml.Bound(tag, "min"); ok {
			list["minItems"] = least
		}
		if strictyaml.Single(tag) {
			return object{"anyOf": []object{w.value(kind.Elem(), ""), list}}
		}
		return list
	case reflect.Int:
		return number(object{"type": "integer"}, tag)
	case reflect.Float64:
		return number(object{"type": "number", "minimum": 0}, tag)
	case reflect.Bool:
		return orVariable(object{"type": "boolean"})
	case reflect.String:
		if words := strings.Fields(tag.Get("enum")); len(words) > 0 {
			return orVariable(object{"enum": words})
		}
		return object{"type": "string"}
	default:
		panic("config: a field of kind " + kind.Kind().String())
	}
}

// reference describes a section once, under its name.
func (w *schemaWriter) reference(section reflect.Type) object {
	name := section.Name()
	if _, written := w.definitions[name]; !written {
		w.definitions[name] = w.section(section)
	}
	reference := object{"$ref": "#/$defs/" + name}
	switch reflect.New(section).Interface().(type) {
	case *Keyword:
		return object{"anyOf": []object{{"type": "string", "pattern": keywordPattern}, reference}}
	case *EscalationChannel:
		return object{"anyOf": []object{{"type": "string", "pattern": "^upstream$"}, reference}}
	case strictyaml.Shorthand:
		return object{"anyOf": []object{{"type": "string"}, reference}}
	default:
		return reference
	}
}

// number is one within the bounds of its tag.
func number(form object, tag reflect.StructTag) object {
	for word, bound := range map[string]string{"minimum": "min", "maximum": "max"} {
		if value, ok := strictyaml.Bound(tag, bound); ok {
			form[word] = value
		}
	}
	return orVariable(form)
}

// orVariable allows an environment variable in place of a value.
func orVariable(forms ...object) object {
	return object{"anyOf": append(forms, object{"type": "string", "pattern": variablePattern})}
}

func defaultOf(kind reflect.Type, value string) any {
	if kind == reflect.TypeFor[*bool]() {
		return value == "true"
	}
	if kind.Kind() == reflect.Int {
		number, _ := strictyaml.Bound(reflect.StructTag(`default:"`+value+`"`), "default")
		return number
	}
	return value
}
