package mime_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"podium/ingest/mime"
)

// BenchmarkBombs measures the mails of TestBombs. MB/peak is how far the heap grew.
func BenchmarkBombs(b *testing.B) {
	for name, bomb := range bombs() {
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := mime.Parse(b.Context(), bomb(), mime.Options{Sink: discarding{}}); err != nil {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(int64(after.HeapSys)-int64(before.HeapSys))/(1<<20), "MB/peak")
		})
	}
}

// BenchmarkParse measures the mails of testdata, one after the other.
func BenchmarkParse(b *testing.B) {
	files, err := filepath.Glob("testdata/*.eml")
	if err != nil {
		b.Fatal(err)
	}
	var mails []string
	size := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		mails, size = append(mails, string(raw)), size+len(raw)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, mail := range mails {
			if _, err := mime.Parse(b.Context(), strings.NewReader(mail), mime.Options{Sink: discarding{}}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkSplit measures mails whose text is as long as is read, 256 KiB: words
// above a quotation, words in another alphabet, a quotation that is answered line
// by line, and lines that nearly announce one.
func BenchmarkSplit(b *testing.B) {
	for name, text := range map[string]struct{ unit, end string }{
		"words":    {"Dear all, the meeting of last week has shown: there is a lot to do - and little time.\r\n\r\n", "\r\nOn 5 Jan 2026, at 09:00, Ana <a@b.c> wrote:\r\n> When?\r\n"},
		"cyrillic": {"Добрый день, встреча показала: дел много, а времени мало.\r\n", "\r\nпн, 5 янв. 2026 г. в 09:00, Ева <a@b.c>:\r\n> Когда?\r\n"},
		"answered": {"On 5 Jan 2026, at 09:00, Ana <a@b.c> wrote:\r\n> When do we meet?\r\n> At nine?\r\nAt nine.\r\n", ""},
		"nearly":   {"on mon, jan 5, 2026\r\nat 9:00, ana\r\n<a@b.c> wrot\r\ne:\r\nfrom: a\r\n-----\r\n", ""},
	} {
		raw := "From: a@b.c\r\nIn-Reply-To: <1@b.c>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" + strings.Repeat(text.unit, (256<<10)/len(text.unit)) + text.end
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := mime.Parse(b.Context(), strings.NewReader(raw), mime.Options{Sink: discarding{}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAttachment measures an attachment of 50 MiB.
func BenchmarkAttachment(b *testing.B) {
	line := strings.Repeat("QUJD", 19) + "\r\n"
	b.SetBytes(50 << 20)
	b.ReportAllocs()
	for b.Loop() {
		raw := io.MultiReader(strings.NewReader("From: a@b.c\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n"), repeated(line, 50<<20/len(line)))
		if _, err := mime.Parse(b.Context(), raw, mime.Options{Sink: discarding{}}); err != nil {
			b.Fatal(err)
		}
	}
}
