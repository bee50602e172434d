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

// A languageReader reads one file, to its end whatever it finds.
type languageReader struct {
	file    string
	content []byte
	decoder *jsontext.Decoder
	faults  LanguageFaults
}

// errUnreadable ends reading a file that is no JSON.
var errUnreadable = errors.New("no JSON")

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
	err := r.object("", map[string]func(string) error{
		"attributions":     func(path string) error { return r.templates(path, &read.attributions, true) },
		"signatures":       func(path string) error { return r.templates(path, &read.signatures, false) },
		"pronouns":         func(path string) error { return r.texts(path, &read.pronouns, 1) },
		"separators":       func(path string) error { return r.texts(path, &read.separators, minPlain) },
		"forwards":         func(path string) error { return r.texts(path, &read.forwards, minPlain) },
		"forward_subjects": func(path string) error { return r.subjects(path, &read.forwardSubjects) },
		"reply_subjects":   func(path string) error { return r.subjects(path, &read.replySubjects) },
		"stubs":            func(path string) error { return r.texts(path, &read.stubs, minPlain) },
		"bounces":          func(path string) error { return r.texts(path, &read.bounces, minPlain) },
		"auto_replies":     func(path string) error { return r.texts(path, &read.autoReplies, minPlain) },
		"header":           func(path string) error { return r.header(path, &read) },
	})
	if err == nil {
		at := r.next()
		if _, end := r.decoder.ReadToken(); !errors.Is(end, io.EOF) {
			r.fault(at, "", "there is something behind the end")
		}
	}
	return read, r.faults
}

// header reads the names of the fields of a copied header.
func (r *languageReader) header(path string, into *vocabulary) error {
	if r.decoder.PeekKind() != '{' {
		return r.mismatch(path, "an object")
	}
	at := r.next()
	keys := map[string]func(string) error{}
	for name, kind := range roleNames() {
		keys[name] = func(inner string) error {
			var labels []string
			err := r.texts(inner, &labels, 1)
			into.header[kind] = labels
			return err
		}
	}
	err := r.object(path, keys)
	if err == nil && (len(into.header[roleFrom]) == 0 || len(into.header) < 3) {
		r.fault(at, path, "from and two others are needed: three fields make a header")
	}
	return err
}

// object reads the keys that it knows and names the others.
func (r *languageReader) object(path string, keys map[string]func(string) error) error {
	if r.decoder.PeekKind() != '{' {
		return r.mismatch(path, "an object")
	}
	if err := r.token(path); err != nil {
		return err
	}
	for r.decoder.PeekKind() != '}' {
		at := r.next()
		token, err := r.decoder.ReadToken()
		if err != nil {
			return r.unreadable(path, err)
		}
		key := token.String()
		inner := strings.TrimPrefix(path+"."+key, ".")
		read, known := keys[key]
		if !known {
			r.fault(at, path, "unknown key %q", shorten(key))
			if last := r.faults[len(r.faults)-1]; key != "" { // which was meant to be none of them
				last.Unknown, last.Known = key, slices.Sorted(maps.Keys(keys))
			}
			if err = r.decoder.SkipValue(); err != nil {
				return r.unreadable(path, err)
			}
			continue
		}
		if err = read(inner); err != nil {
			return err
		}
	}
	return r.token(path)
}

// texts reads a list of texts that have at least so many characters when normalized.
func (r *languageReader) texts(path string, into *[]string, least int) error {
	return r.list(path, func(text string) error {
		text = strings.Trim(Normalize(text), "-_ ")
		if utf8.RuneCountInString(strings.TrimRight(text, ":")) < least {
			return fmt.Errorf("%q is too short to be told from what people write", text)
		}
		*into = append(*into, text)
		return nil
	})
}

// subjects reads beginnings of subjects that have to end with a colon.
func (r *languageReader) subjects(path string, into *[]string) error {
	return r.list(path, func(text string) error {
		text = Normalize(text)
		if len(text) < 2 || !strings.HasSuffix(text, ":") {
			return fmt.Errorf("%q does not end with a colon", text)
		}
		*into = append(*into, text)
		return nil
	})
}

func (r *languageReader) templates(path string, into *[]template, attribution bool) error {
	return r.list(path, func(text string) error {
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
func (r *languageReader) list(path string, accept func(text string) error) error {
	if r.decoder.PeekKind() != '[' {
		return r.mismatch(path, "a list")
	}
	if err := r.token(path); err != nil {
		return err
	}
	for i := 0; r.decoder.PeekKind() != ']'; i++ {
		inner, at := fmt.Sprintf("%s[%d]", path, i), r.next()
		if r.decoder.PeekKind() != '"' {
			if err := r.mismatch(inner, "a text"); err != nil {
				return err
			}
			continue
		}
		token, err := r.decoder.ReadToken()
		if err != nil {
			return r.unreadable(path, err)
		}
		switch text := token.String(); {
		case i == maxWordings:
			r.fault(at, path, "there are more than %d entries", maxWordings)
		case i > maxWordings:
		case len(text) > maxWording:
			r.fault(at, inner, "it is longer than %d bytes", maxWording)
		default:
			if err := accept(text); err != nil {
				r.fault(at, inner, "%v", err)
			}
		}
	}
	return r.token(path)
}

func (r *languageReader) mismatch(path, wanted string) error {
	at := r.next()
	if err := r.decoder.SkipValue(); err != nil {
		return r.unreadable(path, err)
	}
	r.fault(at, path, "expected %s", wanted)
	return nil
}

func (r *languageReader) token(path string) error {
	if _, err := r.decoder.ReadToken(); err != nil {
		return r.unreadable(path, err)
	}
	return nil
}

func (r *languageReader) unreadable(path string, err error) error {
	at, message := int(r.decoder.InputOffset()), err.Error()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = int(syntax.ByteOffset)
		if syntax.Err != nil {
			message = syntax.Err.Error()
		}
	}
	r.fault(at, path, "it is not JSON: %s", message)
	return errUnreadable
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
