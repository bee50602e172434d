package config

import (
	"reflect"
	"strconv"
)

// A field is one key of a section.
type field struct {
	key   string
	index []int
	kind  reflect.Type
	tag   reflect.StructTag
}

func (f field) required() bool { return f.tag.Get("required") == "true" }

// fieldsOf lists the keys of a section in the order of the struct.
func fieldsOf(section reflect.Type) []field {
	var fields []field
	for f := range section.Fields() {
		if key := f.Tag.Get("yaml"); key != "" && key != "-" {
			fields = append(fields, field{key: key, index: f.Index, kind: f.Type, tag: f.Tag})
		}
	}
	return fields
}

// bound reads a numeric tag.
func bound(tag reflect.StructTag, name string) (int, bool) {
	value, err := strconv.Atoi(tag.Get(name))
	return value, err == nil
}

// allowsSingle reports whether a list may be written as its only entry.
func allowsSingle(list reflect.Type) bool {
	return list == reflect.TypeFor[Secrets]() || list == reflect.TypeFor[Pointers]()
}

// ofEntries is the part of a list's tag that holds for each of its entries.
func ofEntries(tag reflect.StructTag) reflect.StructTag {
	if words := tag.Get("enum"); words != "" {
		return reflect.StructTag("enum:" + strconv.Quote(words))
	}
	return ""
}
