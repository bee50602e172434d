package llm

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// A partsReader reads a chat completion, or the events of one, and writes content that is a list of parts as the text
// that the parts hold: the library knows no lists in answers.
type partsReader struct {
	source io.ReadCloser
	lines  *bufio.Reader
	events bool   // each line is read on its own
	ready  []byte // rewritten, and not read yet
	err    error  // why nothing more comes
}

func newPartsReader(source io.ReadCloser, events bool) *partsReader {
	return &partsReader{source: source, lines: bufio.NewReader(source), events: events}
}

// Read implements io.Reader.
func (r *partsReader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 && r.err == nil {
		var read []byte
		if r.events {
			read, r.err = r.lines.ReadBytes('\n')
		} else if read, r.err = io.ReadAll(r.lines); r.err == nil {
			r.err = io.EOF
		}
		r.ready = withoutParts(read)
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, r.err
}

// Close implements io.Closer.
func (r *partsReader) Close() error { return r.source.Close() }

// listedContent finds content that is no text, at a glance.
var listedContent = regexp.MustCompile(`"content"\s*:\s*[\[{]`)

// withoutParts rewrites a completion, or the line of an event with one. What cannot be read is returned as it is.
func withoutParts(read []byte) []byte {
	if !listedContent.Match(read) {
		return read
	}
	begin := bytes.IndexByte(read, '{')
	var whole map[string]jsontext.Value
	var choices []map[string]jsontext.Value
	if schemas.Unmarshal(bytes.TrimSpace(read[begin:]), &whole) != nil || schemas.Unmarshal(whole["choices"], &choices) != nil {
		return read
	}
	for _, choice := range choices {
		for _, name := range []string{"message", "delta"} {
			var said map[string]jsontext.Value
			if choice[name].Kind() != '{' || schemas.Unmarshal(choice[name], &said) != nil {
				continue
			}
			text, refusal, listed := joinParts(said["content"])
			if !listed {
				continue
			}
			said["content"] = quoted(text)
			if refusal != "" {
				said["refusal"] = quoted(refusal)
			}
			choice[name] = rewritten(choice[name], said, nil)
		}
	}
	listed, err := schemas.Marshal(choices)
	if err != nil {
		return read
	}
	whole["choices"] = listed
	body, err := schemas.Marshal(whole)
	if err != nil {
		return read
	}
	return append(append(bytes.Clone(read[:begin]), body...), '\n')
}

// joinParts returns the text of a list of parts: of those that are text, and of plain strings among them. Reasoning,
// references and parts of unknown type are left out. listed is false for content that is no list, and no single part.
func joinParts(content jsontext.Value) (text, refusal string, listed bool) {
	parts := []jsontext.Value{content}
	if content.Kind() != '{' && (content.Kind() != '[' || schemas.Unmarshal(content, &parts) != nil) {
		return "", "", false
	}
	var texts, refusals strings.Builder
	for _, raw := range parts {
		if raw.Kind() == '"' {
			texts.WriteString(stringOf(raw))
			continue
		}
		var part map[string]jsontext.Value
		if raw.Kind() != '{' || schemas.Unmarshal(raw, &part) != nil || string(part["thought"]) == "true" {
			continue
		}
		switch kind := stringOf(part["type"]); kind {
		case "text", "output_text", "":
			texts.WriteString(stringOf(part["text"]))
		case "refusal":
			refusals.WriteString(stringOf(part["refusal"]))
		}
	}
	return texts.String(), refusals.String(), true
}
