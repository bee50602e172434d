package mime_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"podium/bus/bustest/cputime"
	"podium/ingest/mime"
	"podium/schemas"
)

// discarding is a sink that keeps nothing, so that only the parser's memory counts.
type discarding struct{}

func (discarding) Put(_ context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	n, err := io.Copy(io.Discard, r)
	return schemas.Artifact{Size: n, MediaType: mediaType}, err
}

// repeated yields a text many times, without holding it.
func repeated(text string, times int) io.Reader {
	return &repeater{text: text, left: times}
}

type repeater struct {
	text   string
	left   int
	offset int
}

func (r *repeater) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.left > 0 {
		m := copy(p[n:], r.text[r.offset:])
		n, r.offset = n+m, r.offset+m
		if r.offset == len(r.text) {
			r.offset, r.left = 0, r.left-1
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func nest(depth int, closed bool) string {
	var mail strings.Builder
	mail.WriteString("From: a@b.c\r\nContent-Type: multipart/mixed; boundary=b0\r\n")
	for i := range depth {
		fmt.Fprintf(&mail, "\r\n--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n", i, i+1)
	}
	for i := depth; closed && i >= 0; i-- {
		fmt.Fprintf(&mail, "\r\n--b%d--\r\n", i)
	}
	return mail.String()
}

// bombs are mails made to cost time or memory.
func bombs() map[string]func() io.Reader {
	from := "From: a@b.c\r\n"
	return map[string]func() io.Reader{
		"100,000 parts": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: multipart/mixed; boundary=b\r\n\r\n"), repeated("--b\r\n\r\n\r\n", 100_000))
		},
		"50 nested, open":     func() io.Reader { return strings.NewReader(nest(50, false)) },
		"10,000 nested":       func() io.Reader { return strings.NewReader(nest(10_000, true)) },
		"10,000 nested, open": func() io.Reader { return strings.NewReader(nest(10_000, false)) },
		"20 MB header field": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Subject: "), repeated("x", 20<<20), strings.NewReader("\r\n\r\ntext"))
		},
		"20 MB folded field": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Subject: x"), repeated("\r\n y", 5<<20), strings.NewReader("\r\n\r\ntext"))
		},
		"a million fields": func() io.Reader {
			return io.MultiReader(strings.NewReader(from), repeated("X-A: b\r\n", 1_000_000), strings.NewReader("\r\ntext"))
		},
		"140,000 recipients": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"To: "), repeated("a@b.c, ", 140_000), strings.NewReader("\r\n\r\ntext"))
		},
		"125,000 references": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"References: "), repeated("<a@b.c> ", 125_000), strings.NewReader("\r\n\r\ntext"))
		},
		"open comments": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"To: "), repeated("(", 900_000), strings.NewReader("\r\n\r\ntext"))
		},
		"encoded words": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Subject: "), repeated("=?utf-8?Q?a?= ", 70_000), strings.NewReader("\r\n\r\ntext"))
		},
		"parameters": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/plain"), repeated(";a*0=b", 170_000), strings.NewReader("\r\n\r\ntext"))
		},
		"200,000 div": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/html\r\n\r\n"), repeated("<div>", 200_000), strings.NewReader("text"))
		},
		"hidden div": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/html\r\n\r\n"), repeated("<div style='display:none'>a", 20_000))
		},
		"open attributes": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/html\r\n\r\n"), repeated("<a href=\"", 60_000))
		},
		"open scripts": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/html\r\n\r\n"), repeated("<script></", 60_000))
		},
		"links": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/html\r\n\r\n<a href='https://x.y'>"), repeated("a</a><a href='https://x.y'>", 20_000))
		},
		"quote markers": func() io.Reader { return io.MultiReader(strings.NewReader(from+"\r\n"), repeated("on 1 a\n", 80_000)) },
		"empty lines":   func() io.Reader { return io.MultiReader(strings.NewReader(from+"\r\n"), repeated("\n", 500_000)) },
		"false boundaries": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: image/png\r\n\r\n"), repeated("--bb\r\n", 1_000_000))
		},
		"20 MB of base64": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n"), repeated(strings.Repeat("QUJD", 19)+"\r\n", 20<<20/78))
		},
		"blanks, quoted": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: image/png\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"), repeated("=   ", 1<<19))
		},
		"20 MB without newline": func() io.Reader { return io.MultiReader(strings.NewReader(from+"\r\n"), repeated("x", 20<<20)) },
		"nested mails": func() io.Reader {
			return io.MultiReader(strings.NewReader(from), repeated("Content-Type: message/rfc822\r\n\r\nFrom: a@b.c\r\n", 100_000))
		},
		"1,000 attached mails": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: multipart/digest; boundary=b\r\n\r\n"), repeated("--b\r\n\r\nSubject: x\r\n\r\n"+strings.Repeat("word\r\n", 1000), 2000))
		},
		"a million calendar entries": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR\r\n"), repeated("BEGIN:VEVENT\r\nEND:VEVENT\r\n", 1_000_000))
		},
		"authentication results": func() io.Reader {
			return io.MultiReader(strings.NewReader(from), repeated("Authentication-Results: mx; dmarc=pass (((\r\n", 20_000), strings.NewReader("\r\ntext"))
		},
		"style sheets": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"Content-Type: text/html\r\n\r\n"), repeated("<style>.a{color:red}/**/</style><p class='a a a a a a'>x", 10_000))
		},
		"unlabelled text of the east": func() io.Reader {
			return io.MultiReader(strings.NewReader(from+"\r\n"), repeated("\xc4\xe3\xba\xc3", 250_000))
		},
	}
}

// TestBombs_I17 holds time and memory bounded whatever a mail is made of. The limits
// are generous, for slow and busy machines; what they exclude is growth beyond
// the linear.
func TestBombs_I17(t *testing.T) { //nolint:paralleltest // it measures memory
	const (
		maxTime   = 15 * time.Second
		maxMemory = 64 << 20
	)
	for name, bomb := range bombs() { //nolint:paralleltest // see above
		t.Run(name, func(t *testing.T) {
			raw := bomb()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var mail schemas.EmailReceived
			var err error
			took := cputime.Of(t, func() {
				mail, err = mime.Parse(t.Context(), raw, mime.Options{Sink: discarding{}, AuthServIDs: []string{"mx"}})
			})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			validStrings(t, mail)
			grown := int64(after.HeapSys) - int64(before.HeapSys)
			t.Logf("%v, heap +%d KiB, %d KiB allocated", took, grown>>10, (after.TotalAlloc-before.TotalAlloc)>>10)
			if took > maxTime {
				t.Errorf("it took %v", took)
			}
			if grown > maxMemory {
				t.Errorf("it needed %d bytes", grown)
			}
		})
	}
}
