package answer

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// Bounds of what is told in lines; the whole goes along as a file then.
const (
	maxLines = 40
	maxBytes = 4 << 10
	maxCell  = 400 // bytes of one value
	maxDepth = 3
)

// Told is data in words.
type Told struct {
	Text string
	// File holds the whole data when the text leaves something out; nil when it does not.
	File *schemas.DataFile
}

// Data tells data line by line, each with its name: the title that the schema has for it, or else the
// member's own name. Name is that of a file, without its ending; empty is for whom no file can go along.
func Data(data, schema jsontext.Value, name string, words Words) Told {
	writer := &lines{words: words}
	root := read(data)
	writer.value("", root, read(schema), 0)
	told := Told{Text: strings.Join(writer.made, "\n")}
	if writer.left == 0 {
		return told
	}
	more := words.Texts.LeftOut
	if name != "" {
		if told.File = words.fileOf(data, root, name); told.File != nil {
			more = words.Texts.More
		}
	}
	if more != "" {
		told.Text = strings.TrimSpace(told.Text + "\n" + strings.ReplaceAll(more, "{count}", strconv.Itoa(writer.left)))
	}
	return told
}

// A value is read JSON, with the members of objects in the order in which they are written.
type value struct {
	kind    jsontext.Kind
	text    string // of a string, or a number as it is written
	names   []string
	members []value // of an object, in the order of names, or of an array
}

// member returns what an object has under a name.
func (v *value) member(name string) *value {
	for i := range v.names {
		if v.names[i] == name {
			return &v.members[i]
		}
	}
	return &value{}
}

// read takes JSON apart; what is none is nothing.
func read(body jsontext.Value) value {
	if len(body) == 0 {
		return value{}
	}
	decoder := jsontext.NewDecoder(strings.NewReader(string(body)))
	made, err := readValue(decoder)
	if err != nil {
		return value{}
	}
	return made
}

func readValue(from *jsontext.Decoder) (value, error) {
	token, err := from.ReadToken()
	if err != nil {
		return value{}, err
	}
	made := value{kind: token.Kind()}
	switch made.kind {
	case '"', '0':
		made.text = token.String()
	case '{':
		for from.PeekKind() != '}' {
			name, err := from.ReadToken()
			if err != nil {
				return value{}, err
			}
			called := name.String()
			inner, err := readValue(from)
			if err != nil {
				return value{}, err
			}
			made.names, made.members = append(made.names, called), append(made.members, inner)
		}
		_, err = from.ReadToken()
	case '[':
		for from.PeekKind() != ']' {
			inner, err := readValue(from)
			if err != nil {
				return value{}, err
			}
			made.members = append(made.members, inner)
		}
		_, err = from.ReadToken()
	}
	return made, err
}

// lines collects what is told.
type lines struct {
	words Words
	made  []string
	size  int
	left  int // values that there was no room for, or that are nested too deep
}

func (l *lines) add(line string, depth int) {
	line = strings.Repeat("  ", depth) + line
	if len(l.made) == maxLines || l.size+len(line) > maxBytes {
		l.left++
		return
	}
	l.made, l.size = append(l.made, line), l.size+len(line)+1
}

// value tells one value under a label, which is empty for the whole.
func (l *lines) value(label string, v, schema value, depth int) {
	prefix := label
	if prefix != "" {
		prefix += ": "
	}
	switch v.kind {
	case '{':
		l.object(label, &v, &schema, depth)
	case '[':
		l.array(label, &v, &schema, depth)
	case 'n', 0:
	default:
		text, whole := l.scalar(&v)
		l.add(prefix+text, depth)
		if !whole {
			l.left++
		}
	}
}

func (l *lines) object(label string, v, schema *value, depth int) {
	if label != "" {
		l.add(label+":", depth)
		depth++
	}
	if depth > maxDepth {
		l.left++
		return
	}
	properties := schema.member("properties")
	for i, name := range v.names {
		property := properties.member(name)
		l.value(labelOf(name, property), v.members[i], *property, depth)
	}
}

func (l *lines) array(label string, v, schema *value, depth int) {
	items := schema.member("items")
	if texts, scalars := l.scalars(v); scalars {
		if joined := strings.Join(texts, ", "); len(joined) <= maxCell {
			l.value(label, value{kind: '"', text: joined}, value{}, depth)
			return
		}
	}
	if label != "" {
		l.add(label+":", depth)
		depth++
	}
	if depth > maxDepth {
		l.left++
		return
	}
	for i := range v.members {
		if entry := &v.members[i]; entry.kind == '{' {
			l.add("- "+l.row(entry, items), depth)
		} else {
			l.value("-", *entry, *items, depth)
		}
	}
}

// row tells an object in one line, as an entry of a list.
func (l *lines) row(v, schema *value) string {
	properties := schema.member("properties")
	var cells []string
	for i, name := range v.names {
		inner := &v.members[i]
		switch inner.kind {
		case '{', '[':
			texts, scalars := l.scalars(inner)
			if !scalars || inner.kind == '{' {
				l.left++
				continue
			}
			cells = append(cells, labelOf(name, properties.member(name))+": "+strings.Join(texts, ", "))
		case 'n', 0:
		default:
			text, whole := l.scalar(inner)
			if !whole {
				l.left++
			}
			cells = append(cells, labelOf(name, properties.member(name))+": "+text)
		}
	}
	return strings.Join(cells, "; ")
}

// scalars returns the texts of a list that holds nothing else than texts, numbers, true and false.
func (l *lines) scalars(v *value) (texts []string, all bool) {
	for i := range v.members {
		switch v.members[i].kind {
		case '{', '[':
			return nil, false
		case 'n':
		default:
			text, whole := l.scalar(&v.members[i])
			if !whole {
				l.left++
			}
			texts = append(texts, text)
		}
	}
	return texts, true
}

// scalar tells a text, a number, true or false in one line, and whether all of it is told.
func (l *lines) scalar(v *value) (text string, whole bool) {
	switch v.kind {
	case 't':
		return cmp.Or(l.words.Texts.Yes, "true"), true
	case 'f':
		return cmp.Or(l.words.Texts.No, "false"), true
	case '0':
		if l.words.Decimal != "" {
			return strings.Replace(v.text, ".", l.words.Decimal, 1), true
		}
		return v.text, true
	}
	if text = oneLine(v.text); len(text) <= maxCell {
		return text, true
	}
	return strings.ToValidUTF8(text[:maxCell], "") + "…", false
}

// labelOf is what a member is called: by its schema, or else by its own name with spaces.
func labelOf(name string, schema *value) string {
	if title := oneLine(schema.member("title").text); title != "" {
		return title
	}
	label := oneLine(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return r
	}, name))
	if label == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(label)
	return string(unicode.ToUpper(first)) + label[size:]
}
