package validation

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// A decoder reads one value and checks it against its schema in
// the same pass. The first error sticks; every read after it returns zero.
//
// Its verdict is the schema's: a null is not an absence, 1.0 and 1e2 are
// integers, numbers are IEEE 754 doubles (RFC 7493, section 2.2), names that
// the schema does not know are skipped.
type decoder struct {
	tokens *jsontext.Decoder
	read   func(*decoder)
	err    error
}

// decode lets read take the one value that the body is.
func decode(body []byte, read func(*decoder)) error {
	d := decoder{read: read}
	err := json.Unmarshal(body, &d)
	if d.err != nil || err == nil {
		return d.err
	}
	return notJSON(err)
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (d *decoder) UnmarshalJSONFrom(tokens *jsontext.Decoder) error {
	d.tokens = tokens
	d.read(d)
	return d.err
}

func notJSON(err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) || errors.Is(syntax.Err, io.ErrUnexpectedEOF) {
		return &Error{Reason: "is not JSON: it ends too early"}
	}
	if errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
		return &Error{Pointer: string(syntax.JSONPointer), Reason: "is a duplicate name"}
	}
	return &Error{
		Pointer: string(syntax.JSONPointer),
		Reason:  "is not JSON from byte " + strconv.FormatInt(syntax.ByteOffset, 10) + " on",
	}
}

// refuse reports the value that was read last.
func (d *decoder) refuse(reason string) {
	if d.err == nil {
		d.err = &Error{Pointer: string(d.tokens.StackPointer()), Reason: reason}
	}
}

// next reads a whole value. Its bytes are valid until the next read.
func (d *decoder) next() (jsontext.Value, bool) {
	if d.err != nil {
		return nil, false
	}
	value, err := d.tokens.ReadValue()
	if err != nil {
		d.err = notJSON(err)
	}
	return value, err == nil
}

// value is next for one kind.
func (d *decoder) value(kind jsontext.Kind, want string) (jsontext.Value, bool) {
	value, ok := d.next()
	if !ok {
		return nil, false
	}
	if got := value.Kind(); got != kind {
		d.refuse(wrongType(TypeOf(got), want))
		return nil, false
	}
	return value, true
}

// The JSON types, as JSON Schema names them.
const (
	typeObject  = "object"
	typeArray   = "array"
	typeString  = "string"
	typeNumber  = "number"
	typeInteger = "integer"
	typeBoolean = "boolean"
	typeNull    = "null"
)

// open reads the beginning of an object or an array.
func (d *decoder) open(kind jsontext.Kind) bool {
	if d.err != nil {
		return false
	}
	if d.tokens.PeekKind() != kind {
		d.value(kind, TypeOf(kind))
		return false
	}
	if _, err := d.tokens.ReadToken(); err != nil {
		d.err = notJSON(err)
		return false
	}
	return true
}

func (d *decoder) closing(kind jsontext.Kind) bool {
	if d.err != nil {
		return true
	}
	if d.tokens.PeekKind() != kind {
		return false
	}
	if _, err := d.tokens.ReadToken(); err != nil {
		d.err = notJSON(err)
	}
	return true
}

// object calls member with each name of an object; member reads the value,
// after which the name is void.
func (d *decoder) object(member func(name []byte)) {
	if !d.open('{') {
		return
	}
	for !d.closing('}') {
		if name := d.name(); d.err == nil {
			member(name)
		}
	}
}

func (d *decoder) name() []byte {
	quoted, ok := d.next()
	if !ok {
		return nil
	}
	return d.unquote(quoted)
}

// unquote returns the characters of a JSON string, in place when it has no escapes.
func (d *decoder) unquote(quoted jsontext.Value) []byte {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	unquoted, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		d.refuse("is not JSON: a broken string")
	}
	return unquoted
}

func list[T any](d *decoder, element func(*decoder) T) []T {
	items := []T{}
	if !d.open('[') {
		return items
	}
	for !d.closing(']') {
		items = append(items, element(d))
	}
	return items
}

func dictionary[T any](d *decoder, element func(*decoder) T) map[string]T {
	items := map[string]T{}
	d.object(func(name []byte) {
		key := string(name)
		items[key] = element(d)
	})
	return items
}

// free reads a value that may be anything.
func (d *decoder) free() jsontext.Value {
	value, _ := d.next()
	return value.Clone()
}

// freeObject reads an object that may hold anything.
func (d *decoder) freeObject() jsontext.Value {
	value, _ := d.value('{', typeObject)
	return value.Clone()
}

func (d *decoder) text() string {
	quoted, ok := d.value('"', typeString)
	if !ok {
		return ""
	}
	return string(d.unquote(quoted))
}

// bounded reads a text that is held to a length or a pattern.
func (d *decoder) bounded(s *shape) string {
	text := d.text()
	switch {
	case d.err != nil:
	case text == "" && s.MinLength > 0:
		d.refuse(reasonEmpty)
	case s.MaxLength > 0 && len(text) > s.MaxLength && utf8.RuneCountInString(text) > s.MaxLength:
		d.refuse(tooLong(s.MaxLength))
	case s.Pattern != nil && !s.Pattern.MatchString(text):
		d.refuse(noMatch(s.Pattern.String()))
	}
	return text
}

func (d *decoder) uuid() string {
	text := d.text()
	if d.err == nil && (len(text) != plainUUID || uuid.Validate(text) != nil) {
		d.refuse(reasonUUID)
	}
	return text
}

// plainUUID is the length of a UUID by RFC 9562: the library knows further forms.
const plainUUID = 36

func (d *decoder) time() time.Time {
	text := d.text()
	if d.err != nil {
		return time.Time{}
	}
	moment, ok := parseTime(text)
	if !ok {
		d.refuse(reasonTime)
	}
	return moment
}

// parseTime reads an RFC 3339 time with upper-case T and Z in the years 1 to
// 9999 of UTC. Leap seconds are refused: no clock here can hold them.
func parseTime(text string) (time.Time, bool) {
	var moment time.Time
	if err := moment.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, false
	}
	moment = moment.UTC()
	return moment, moment.Year() >= 1 && moment.Year() <= 9999
}

func (d *decoder) boolean() bool {
	value, ok := d.next()
	if !ok {
		return false
	}
	if got := TypeOf(value.Kind()); got != typeBoolean {
		d.refuse(wrongType(got, typeBoolean))
		return false
	}
	return value.Kind() == 't'
}

// number reads a number from 0 to limit.
func (d *decoder) number(limit float64) float64 {
	value, ok := d.value('0', typeNumber)
	if !ok {
		return 0
	}
	return d.within(parseNumber(string(value)), limit)
}

// integer reads a whole number from 0 to limit.
func (d *decoder) integer(limit float64) int {
	value, ok := d.value('0', typeInteger)
	if !ok {
		return 0
	}
	number := parseNumber(string(value))
	if number != math.Trunc(number) {
		d.refuse(wrongType(typeNumber, typeInteger))
		return 0
	}
	return int(d.within(number, limit))
}

func (d *decoder) within(number, limit float64) float64 {
	switch {
	case number < 0:
		d.refuse(tooSmall("0"))
		return 0
	case number > limit:
		d.refuse(tooLarge(strconv.FormatFloat(limit, 'f', -1, 64)))
		return 0
	}
	return number
}

// parseNumber returns the double nearest to a JSON number; beyond the range of
// doubles, the largest of its sign.
func parseNumber(text string) float64 {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.Copysign(math.MaxFloat64, number)
	}
	return number
}

func choice(d *decoder, allowed ...string) string {
	quoted, ok := d.value('"', typeString)
	if !ok {
		return ""
	}
	text := d.unquote(quoted)
	for _, candidate := range allowed {
		if string(text) == candidate {
			return candidate
		}
	}
	d.refuse(noneOf(allowed))
	return ""
}

// parseJSON reads I-JSON (RFC 7493) into the values that the library walks.
func parseJSON(body []byte) (any, error) {
	var value any
	err := decode(body, func(d *decoder) { value = d.any() })
	return value, err
}

func (d *decoder) any() any {
	if d.err != nil {
		return nil
	}
	switch byte(d.tokens.PeekKind()) {
	case '{':
		return dictionary(d, (*decoder).any)
	case '[':
		return list(d, (*decoder).any)
	case '"':
		return d.text()
	case '0':
		value, _ := d.value('0', typeNumber)
		return parseNumber(string(value))
	case 't', 'f':
		return d.boolean()
	}
	d.value('n', typeNull)
	return nil
}
