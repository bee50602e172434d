package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of a language, so that none makes reading mail slow.
const (
	maxLanguages    = 64       // of one installation
	maxLanguageFile = 64 << 10 // bytes
	maxWordings     = 64       // of one list
	maxWording      = 200      // bytes of one entry
	minWeight       = 4        // letters that an attribution or a signature line has to show
	minPlain        = 2        // characters of any other entry
)

// A languageReader reads one file, to its end whatever it finds, but for what is no JSON.
type languageReader struct {
	file    string
	content []byte
	decoder *jsontext.Decoder
	broken  bool // it is no JSON: nothing more is read
	faults  LanguageFaults
}

// readLanguage reads the file of a language strictly. Every text is normalized.
func readLanguage(file string, content []byte) (vocabulary, LanguageFaults) {
	r := &languageReader{file: file, content: content, decoder: jsontext.NewDecoder(bytes.NewReader(content))}
	read := vocabulary{header: map[role][]string{}}
	switch {
	case len(content) > maxLanguageFile:
		r.fault(0, "", "it is larger than %d bytes", maxLanguageFile)
		return read, r.faults
	case !utf8.Valid(content):
		r.fault(0, "", "it is not UTF-8")
		return read, r.faults
	}
	r.object("", map[string]func(string){
		"attributions":     func(path string) { r.templates(path, &read.attributions, true) },
		"signatures":       func(path string) { r.templates(path, &read.signatures, false) },
		"pronouns":         func(path string) { r.texts(path, &read.pronouns, 1) },
		"separators":       func(path string) { r.texts(path, &read.separators, minPlain) },
		"forwards":         func(path string) { r.texts(path, &read.forwards, minPlain) },
		"forward_subjects": func(path string) { r.subjects(path, &read.forwardSubjects) },
		"reply_subjects":   func(path string) { r.subjects(path, &read.replySubjects) },
		"stubs":            func(path string) { r.texts(path, &read.stubs, minPlain) },
		"bounces":          func(path string) { r.texts(path, &read.bounces, minPlain) },
		"auto_replies":     func(path string) { r.texts(path, &read.autoReplies, minPlain) },
		"header":           func(path string) { r.header(path, &read) },
	})
	if !r.broken {
		at := r.next()
		if _, end := r.decoder.ReadToken(); !errors.Is(end, io.EOF) {
			r.fault(at, "", "there is something behind the end")
		}
	}
	return read, r.faults
}

// header reads the names of the fields of a copied header.
func (r *languageReader) header(path string, into *vocabulary) {
	isObject, at := r.decoder.PeekKind() == '{', r.next()
	keys := map[string]func(string){}
	for name, kind := range roleNames() {
		keys[name] = func(inner string) {
			var labels []string
			r.texts(inner, &labels, 1)
			into.header[kind] = labels
		}
	}
	r.object(path, keys)
	if isObject && !r.broken && (len(into.header[roleFrom]) == 0 || len(into.header) < 3) {
		r.fault(at, path, "from and two others are needed: three fields make a header")
	}
}

// object reads the keys that it knows and names the others.
func (r *languageReader) object(path string, keys map[string]func(string)) {
	if r.decoder.PeekKind() != '{' {
		r.mismatch(path, "an object")
		return
	}
	r.token(path)
	for !r.broken && r.decoder.PeekKind() != '}' {
		at := r.next()
		key := r.token(path)
		read, known := keys[key]
		switch {
		case r.broken:
		case known:
			read(strings.TrimPrefix(path+"."+key, "."))
		default:
			r.fault(at, path, "unknown key %q", shorten(key))
			if last := r.faults[len(r.faults)-1]; key != "" { // which was meant to be none of them
				last.Unknown, last.Known = key, slices.Sorted(maps.Keys(keys))
			}
			r.skip(path)
		}
	}
	r.token(path)
}

// texts reads a list of texts that have at least so many characters when normalized.
func (r *languageReader) texts(path string, into *[]string, least int) {
	r.list(path, func(text string) error {
		text = strings.Trim(Normalize(text), "-_ ")
		if utf8.RuneCountInString(strings.TrimRight(text, ":")) < least {
			return fmt.Errorf("%q is too short to be told from what people write", text)
		}
		*into = append(*into, text)
		return nil
	})
}

// subjects reads beginnings of subjects that have to end with a colon.
func (r *languageReader) subjects(path string, into *[]string) {
	r.list(path, func(text string) error {
		text = Normalize(text)
		if len(text) < 2 || !strings.HasSuffix(text, ":") {
			return fmt.Errorf("%q does not end with a colon", text)
		}
		*into = append(*into, text)
		return nil
	})
}

func (r *languageReader) templates(path string, into *[]template, attribution bool) {
	r.list(path, func(text string) error {
		parsed, err := parseTemplate(text)
		if err == nil {
			err = parsed.check(attribution)
		}
		if err == nil {
			*into = append(*into, parsed)
		}
		return err
	})
}

// check refuses templates that would match what people write.
func (t *template) check(attribution bool) error {
	least := minWeight
	if t.has(slotDate) && t.has(slotAddress) {
		least = 0 // which nobody writes before a colon
	}
	switch {
	case t.weight() < least:
		return errors.New("its words are too few to be told from what people write")
	case !attribution && t.first == "" && len(t.slots) > 0 && t.last == "":
		return errors.New("it has to begin or to end with words")
	case attribution && len(t.slots) == 0:
		return errors.New("it has no place, such as {name}")
	case attribution && !strings.HasSuffix(t.last, ":"):
		return errors.New("it has to end with a colon")
	}
	return nil
}

// list reads a list of texts and hands each to accept, whose error is a fault.
func (r *languageReader) list(path string, accept func(text string) error) {
	if r.decoder.PeekKind() != '[' {
		r.mismatch(path, "a list")
		return
	}
	r.token(path)
	for i := 0; !r.broken && r.decoder.PeekKind() != ']'; i++ {
		inner, at := fmt.Sprintf("%s[%d]", path, i), r.next()
		if r.decoder.PeekKind() != '"' {
			r.mismatch(inner, "a text")
			continue
		}
		text := r.token(path)
		switch {
		case r.broken, i > maxWordings:
		case i == maxWordings:
			r.fault(at, path, "there are more than %d entries", maxWordings)
		case len(text) > maxWording:
			r.fault(at, inner, "it is longer than %d bytes", maxWording)
		default:
			if err := accept(text); err != nil {
				r.fault(at, inner, "%v", err)
			}
		}
	}
	r.token(path)
}

func (r *languageReader) mismatch(path, wanted string) {
	at := r.next()
	if r.skip(path); !r.broken {
		r.fault(at, path, "expected %s", wanted)
	}
}

// skip passes over a value.
func (r *languageReader) skip(path string) { r.check(path, r.decoder.SkipValue()) }

// token reads one token, unless what was before is no JSON, and returns its text.
func (r *languageReader) token(path string) (text string) {
	if r.broken {
		return ""
	}
	token, err := r.decoder.ReadToken()
	if err == nil {
		text = token.String()
	}
	r.check(path, err)
	return text
}

// check ends the reading when what is read is no JSON.
func (r *languageReader) check(path string, err error) {
	if err == nil {
		return
	}
	r.broken = true
	at, message := int(r.decoder.InputOffset()), err.Error()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = int(syntax.ByteOffset)
		if syntax.Err != nil {
			message = syntax.Err.Error()
		}
	}
	r.fault(at, path, "it is not JSON: %s", message)
}

// next returns where the next value or name begins.
func (r *languageReader) next() int {
	at := int(r.decoder.InputOffset())
	return at + len(r.content[at:]) - len(bytes.TrimLeft(r.content[at:], " \t\r\n,:"))
}

func (r *languageReader) fault(at int, path, format string, args ...any) {
	before := r.content[:min(at, len(r.content))]
	line := bytes.LastIndexByte(before, '\n') + 1
	r.faults = append(r.faults, &LanguageFault{
		File: r.file, Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(before[line:]) + 1, Path: path,
		Message: fmt.Sprintf(format, args...),
	})
}
