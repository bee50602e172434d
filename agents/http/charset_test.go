package http_test

import (
	"errors"
	nethttp "net/http"
	"strings"
	"testing"

	"podium/bus/agent"
)

// TestCharsetOfAnAnswer: an answer is decoded by the charset of its Content-Type, a byte order mark is passed over, and
// what the charset cannot hold is unreadable: no answer has a replacement character.
func TestCharsetOfAnAnswer(t *testing.T) {
	t.Parallel()
	const german = "Straße gesperrt, Rückruf um 9"
	latin := strings.NewReplacer("ß", "\xdf", "ü", "\xfc").Replace(german)
	little, big := "", ""
	for _, r := range german {
		little, big = little+string([]byte{byte(r), 0}), big+string([]byte{0, byte(r)})
	}
	for name, c := range map[string]struct{ mediaType, body, text, data string }{
		"iso-8859-1":            {"text/plain; charset=iso-8859-1", latin, german, ""},
		"in quotes":             {`text/plain; charset="ISO-8859-1"`, latin, german, ""},
		"iso-8859-15":           {"text/plain; charset=iso-8859-15", "9 \xa4", "9 €", ""},
		"windows-1252":          {"text/plain; charset=windows-1252", "\x80 9 \x96 10", "€ 9 – 10", ""},
		"utf-16 with a mark":    {"text/plain; charset=utf-16", "\xff\xfe" + little, german, ""},
		"utf-16, big":           {"text/plain; charset=utf-16", "\xfe\xff" + big, german, ""},
		"utf-16 without a mark": {"text/plain; charset=utf-16", big, german, ""},
		"the same, little":      {"text/plain; charset=utf-16", little, german, ""},
		"utf-16le":              {"text/plain; charset=utf-16le", little, german, ""},
		"utf-16be":              {"text/plain; charset=utf-16be", big, german, ""},
		"a mark says utf-16":    {"text/plain", "\xff\xfe" + little, german, ""},
		"shift_jis":             {"text/plain; charset=shift_jis", "\x93\xfa", "日", ""},
		"utf-8":                 {"text/plain; charset=UTF-8", german, german, ""},
		"utf-8 with a mark":     {"text/plain", "\xef\xbb\xbf" + german, german, ""},
		"a mark against latin":  {"text/plain; charset=iso-8859-1", "\xef\xbb\xbf" + german, german, ""},
		"json with a mark":      {"application/json", "\xef\xbb\xbf" + `{"text":"` + german + `"}`, german, ""},
		"json in latin":         {"application/json; charset=iso-8859-1", `{"text":"` + latin + `"}`, german, ""},
		"data in latin":         {"application/json; charset=iso-8859-1", "{\"street\":\"\xdf\"}", "", `{"street":"ß"}`},
		"latin without a word":  {"text/plain", latin, "", ""},
		"latin as utf-8":        {"text/plain; charset=utf-8", latin, "", ""},
		"latin as ascii":        {"text/plain; charset=us-ascii", latin, "", ""},
		"json with latin in it": {"application/json", "{\"street\":\"\xdf\"}", "", ""},
		"no charset at all":     {"text/plain; charset=martian", german, "", ""},
		"half of utf-16":        {"text/plain; charset=utf-16be", big + "\xd8\x00", "", ""},
		"half of shift_jis":     {"text/plain; charset=shift_jis", "\x93", "", ""},
		"utf-32":                {"text/plain; charset=utf-32", "\xff\xfe\x00\x00a\x00\x00\x00", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := endpoint(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
				w.Header().Set("Content-Type", c.mediaType)
				_, _ = w.Write([]byte(c.body))
			})
			outcome, err := made.Handle(t.Context(), asked(), silent)
			if c.text == "" && c.data == "" {
				if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Permanent || !errors.Is(err, agent.ErrUnreadable) {
					t.Errorf("outcome %+v, %v", outcome, err)
				}
				return
			}
			if err != nil || outcome.Text != c.text || string(outcome.Data) != c.data {
				t.Errorf("outcome %q, %s, %v", outcome.Text, outcome.Data, err)
			}
		})
	}
}

// TestAnswersThatAreNone: an answer with nothing in it, and one that begins as JSON and does not parse, are failures; 204 alone says that there
// is nothing to say.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status                   int
		mediaType, body, message string
		permanent                bool
	}{
		"nothing":           {200, "application/json", "", "is empty", false},
		"blanks":            {200, "text/plain", " \n", "is empty", false},
		"nothing, created":  {201, "", "", "is empty", false},
		"a mark alone":      {200, "text/plain", "\xef\xbb\xbf", "is empty", false},
		"null":              {200, "application/json", "null", "is empty", false},
		"cut":               {200, "application/json", `{"text": "Hal`, "unreadable", true},
		"cut, as words":     {200, "text/plain", `{"text": "Hal`, "unreadable", true},
		"cut, without type": {200, "", `[{"text": "Hal`, "unreadable", true},
		"words behind":      {200, "text/plain", `{"text": "Hi"} -- sent by curl`, "unreadable", true},
		"NUL":               {200, "text/plain", "done\x00", "unreadable", true},
		"odd type":          {200, "application/json", `{"status":"completed","deliverables":[{"path":"a","type":"image"}]}`, "unreadable", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := endpoint(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
				w.Header()["Content-Type"] = []string{c.mediaType}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			outcome, err := made.Handle(t.Context(), asked(), silent)
			failure, is := errors.AsType[*agent.Failure](err)
			if !is || !strings.Contains(failure.Message, c.message) || failure.Permanent != c.permanent || !errors.Is(err, agent.ErrUnreadable) {
				t.Errorf("outcome %+v, %+v, %v", outcome, failure, err)
			}
		})
	}
}
