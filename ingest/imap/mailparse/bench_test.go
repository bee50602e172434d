package mailparse_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"podium/ingest/imap/mailparse"
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
				if _, err := mailparse.Parse(b.Context(), bomb(), mailparse.Options{Sink: discarding{}}); err != nil {
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
			if _, err := mailparse.Parse(b.Context(), strings.NewReader(mail), mailparse.Options{Sink: discarding{}}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAttachment measures an attachment of 50 MiB.
func BenchmarkAttachment(b *testing.B) {
	line := strings.Repeat("QUJD", 19) + "\r\n"
	b.SetBytes(50 << 20)
	b.ReportAllocs()
	for b.Loop() {
		raw := io.MultiReader(strings.NewReader("From: a@b.c\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n"), repeated(line, 50<<20/len(line)))
		if _, err := mailparse.Parse(b.Context(), raw, mailparse.Options{Sink: discarding{}}); err != nil {
			b.Fatal(err)
		}
	}
}
