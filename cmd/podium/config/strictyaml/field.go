package strictyaml

import (
	"reflect"
	"strconv"
)

// A Field is one key of a section.
type Field struct {
	Key   string
	Kind  reflect.Type
	Tag   reflect.StructTag
	index []int
}

// Required reports whether the key may not be missing.
func (f Field) Required() bool { return f.Tag.Get("required") == "true" }

// Fields lists the keys of a section in the order of the struct.
func Fields(section reflect.Type) []Field {
	var fields []Field
	for f := range section.Fields() {
		if key := f.Tag.Get("yaml"); key != "" && key != "-" {
			fields = append(fields, Field{Key: key, Kind: f.Type, Tag: f.Tag, index: f.Index})
		}
	}
	return fields
}

// Bound reads a numeric tag.
func Bound(tag reflect.StructTag, name string) (int, bool) {
	value, err := strconv.Atoi(tag.Get(name))
	return value, err == nil
}

// Single reports whether a list may be written as its only entry.
func Single(tag reflect.StructTag) bool { return tag.Get("single") == "true" }

// OfEntries is the part of a list's tag that holds for each of its entries.
func OfEntries(tag reflect.StructTag) reflect.StructTag {
	if words := tag.Get("enum"); words != "" {
		return reflect.StructTag("enum:" + strconv.Quote(words))
	}
	return ""
}
