package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// plainly puts what is wrong with a JSON text into words: where it is, and what was
// expected. Anything else is returned as it is.
func plainly(text []byte, err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		place := position(text, syntax.ByteOffset)
		switch {
		case len(bytes.TrimSpace(text)) == 0:
			return errors.New("it is empty")
		case errors.Is(syntax, io.ErrUnexpectedEOF):
			return fmt.Errorf("%s: it ends too early; a bracket, brace or quote is not closed", place)
		case errors.Is(syntax, jsontext.ErrDuplicateName):
			return fmt.Errorf("%s: the name %q is there twice", place, syntax.JSONPointer.LastToken())
		}
		return fmt.Errorf("%s: it is not JSON from here on; look for a missing quote, comma or brace", place)
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && semantic.GoType != nil {
		at := "the whole"
		if semantic.JSONPointer != "" {
			at = string(semantic.JSONPointer)
		}
		return fmt.Errorf("%s: %s is %s, and has to be %s", position(text, semantic.ByteOffset), at, kindName(semantic.JSONKind), typeName(semantic.GoType))
	}
	return err
}

// position is where an offset is, as editors count.
func position(text []byte, offset int64) string {
	before := text[:max(0, min(offset, int64(len(text))))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 'n':
		return "null"
	}
	return "something else"
}

func typeName(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Pointer:
		return typeName(of.Elem())
	default:
		return "a text"
	}
}
