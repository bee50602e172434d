package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The library refuses a whole answer for one part of a kind that it does not know, and ends the connection at a number that JSON does not
// have. So messages are made readable before it reads them, and what was not is named in these members of _meta.
const (
	metaUnread  = "podium.dev/unread"  // of a part: its kind
	metaNumbers = "podium.dev/numbers" // of a result: NaN and infinities, which are told as text
)

const maxUnreadParts = 20 // kinds that are named

// makeReadable returns a message that the library can read: parts of an answer that it cannot read are empty texts, and NaN and infinities
// are texts. A message that is no answer of a tool, or that is no message, is returned as it is.
func makeReadable(message []byte) []byte {
	repaired, numbers := quoteNumbers(message)
	if !bytes.Contains(repaired, []byte(`"content"`)) && len(numbers) == 0 {
		return repaired
	}
	var all, result map[string]json.RawMessage
	if json.Unmarshal(repaired, &all) != nil || json.Unmarshal(all["result"], &result) != nil || result == nil {
		return repaired
	}
	var known sdk.CallToolResult
	if len(numbers) == 0 && json.Unmarshal(all["result"], &known) == nil {
		return repaired
	}
	var parts []json.RawMessage
	if json.Unmarshal(result["content"], &parts) == nil && parts != nil {
		for i, part := range parts {
			parts[i] = readablePart(part)
		}
		result["content"], _ = json.Marshal(parts) // what was read can be written
	}
	if len(numbers) > 0 {
		meta := map[string]json.RawMessage{}
		if json.Unmarshal(result["_meta"], &meta) != nil || meta == nil {
			meta = map[string]json.RawMessage{}
		}
		meta[metaNumbers], _ = json.Marshal(numbers)
		result["_meta"], _ = json.Marshal(meta)
	}
	all["result"], _ = json.Marshal(result)
	body, err := json.Marshal(all)
	if err != nil {
		return repaired
	}
	return body
}

// readablePart returns a part of an answer, or in place of one that cannot be read an empty text that names its kind.
func readablePart(part json.RawMessage) json.RawMessage {
	whole := slices.Concat([]byte(`{"content":[`), part, []byte(`]}`))
	var known sdk.CallToolResult
	if json.Unmarshal(whole, &known) == nil {
		return part
	}
	var of struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(part, &of) // one without a kind has none
	body, err := json.Marshal(map[string]any{"type": "text", "text": "", "_meta": map[string]string{metaUnread: cmp.Or(plain(of.Type, maxName), "?")}})
	if err != nil {
		return part
	}
	return body
}

// notNumbers are what programs write for numbers that JSON does not have.
func notNumbers() []string { return []string{"-Infinity", "Infinity", "NaN"} }

// quoteNumbers makes texts of the numbers that JSON does not have, and returns them. Nothing inside of a text is changed.
func quoteNumbers(message []byte) (repaired []byte, numbers []string) {
	if !bytes.Contains(message, []byte("NaN")) && !bytes.Contains(message, []byte("Infinity")) || jsontext.Value(message).IsValid(
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return message, nil
	}
	inText, known := false, notNumbers()
	for i := 0; i < len(message); i++ {
		c := message[i]
		switch {
		case c == '\\' && inText && i+1 < len(message):
			repaired = append(repaired, c)
			i++
			c = message[i]
		case c == '"':
			inText = !inText
		case !inText:
			if at := slices.IndexFunc(known, func(one string) bool { return bytes.HasPrefix(message[i:], []byte(one)) }); at >= 0 {
				repaired = append(append(append(repaired, '"'), known[at]...), '"')
				if i += len(known[at]) - 1; !slices.Contains(numbers, known[at]) {
					numbers = append(numbers, known[at])
				}
				continue
			}
		}
		repaired = append(repaired, c)
	}
	return repaired, numbers
}

// unreadOf returns what of an answer could not be read: the kinds of parts, and the numbers that are none.
func unreadOf(result *sdk.CallToolResult) (kinds, numbers []string) {
	for _, content := range result.Content {
		if text, is := content.(*sdk.TextContent); is {
			kind, _ := text.Meta[metaUnread].(string)
			if kind != "" && len(kinds) < maxUnreadParts && !slices.Contains(kinds, kind) {
				kinds = append(kinds, plain(kind, maxName))
			}
		}
	}
	said, _ := result.Meta[metaNumbers].([]any)
	for _, one := range said[:min(len(said), len(notNumbers()))] {
		if number, is := one.(string); is && slices.Contains(notNumbers(), number) {
			numbers = append(numbers, number)
		}
	}
	return kinds, numbers
}

// readableBody has the messages in the body of an answer made readable. A body that is no JSON and no stream of events is left as it is.
func readableBody(response *http.Response, limit int) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")) // one that cannot be read is none of these
	switch kind {
	case "application/json":
		response.Body = &readable{Closer: response.Body, from: bufio.NewReader(response.Body), limit: limit}
	case "text/event-stream":
		response.Body = &readable{Closer: response.Body, from: bufio.NewReader(response.Body), limit: limit, events: true}
	default:
		return
	}
	response.ContentLength = -1
	response.Header.Del("Content-Length")
}

// readable reads messages: one, or with events one a line.
type readable struct {
	io.Closer

	from   *bufio.Reader
	limit  int
	events bool
	left   []byte
	err    error
}

// Read implements io.Reader.
func (r *readable) Read(into []byte) (int, error) {
	for len(r.left) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.left, r.err = r.next()
	}
	n := copy(into, r.left)
	r.left = r.left[n:]
	return n, nil
}

// next reads a line, or all that there is, and no more than the limit at once: what is longer is left as it is.
func (r *readable) next() ([]byte, error) {
	var read []byte
	for len(read) <= r.limit {
		part, err := r.from.ReadSlice('\n')
		read = append(read, part...)
		switch {
		case err == nil && r.events, err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return r.readable(read), err
		}
	}
	return read, nil
}

func (r *readable) readable(read []byte) []byte {
	if !r.events {
		return makeReadable(read)
	}
	data, is := bytes.CutPrefix(read, []byte("data:"))
	if !is {
		return read
	}
	ending := data[len(bytes.TrimRight(data, "\r\n")):]
	return slices.Concat([]byte("data: "), makeReadable(bytes.TrimSpace(data)), ending)
}
