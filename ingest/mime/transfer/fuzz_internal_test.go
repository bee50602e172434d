package transfer

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"podium/ingest/mime/defect"
)

// FuzzBase64 proves that base64 is decoded as encoding/base64 does, in lines of any
// length and in pieces of any length, that words below it add nothing, and that no
// input gives more than it can hold.
func FuzzBase64(f *testing.F) {
	f.Add([]byte("Hello"), byte(4), "Regards\nAna")
	f.Add([]byte(strings.Repeat("Hello Ana ", 20)), byte(75), "__________\nTalk mailing list")
	f.Add([]byte{0xff, 0xfe, 0xfd}, byte(1), "SGVsbG8=")
	f.Add([]byte{}, byte(0), "====\n-- \n")
	f.Add([]byte(strings.Repeat("x", 9000)), byte(76), "QUJD QUJD\n\nA=B=")
	f.Fuzz(func(t *testing.T, data []byte, width byte, below string) {
		encoded := base64.StdEncoding.EncodeToString(data)
		var lines strings.Builder
		for i := 0; i < len(encoded); i += int(width) + 1 {
			lines.WriteString(encoded[i:min(len(encoded), i+int(width)+1)] + "\r\n")
		}
		var found defect.List
		got, err := io.ReadAll(iotest.OneByteReader(newBase64Reader(strings.NewReader(lines.String()), &found)))
		if err != nil || !bytes.Equal(got, data) || len(found.Names) > 0 {
			t.Fatalf("%q became %q, %q (%v)", data, got, found.Names, err)
		}
		whole, err := io.ReadAll(newBase64Reader(strings.NewReader(lines.String()+below), &defect.List{}))
		if err != nil || !bytes.HasPrefix(whole, data) && strings.Contains(encoded, "=") || len(whole) > len(lines.String()+below) {
			t.Fatalf("%q and %q became %q (%v)", data, below, whole, err)
		}
		halves, err := io.ReadAll(newBase64Reader(iotest.HalfReader(strings.NewReader(lines.String()+below)), &defect.List{}))
		if err != nil || !bytes.Equal(halves, whole) {
			t.Fatalf("it depends on how it is read: %q and %q (%v)", whole, halves, err)
		}
	})
}
