package transfer

import (
	"bufio"
	"io"
	"strings"

	"podium/ingest/mime/defect"
)

// NewReader undoes a Content-Transfer-Encoding. It never fails on data:
// what is malformed is passed over or through, and named.
func NewReader(encoding string, r io.Reader, found *defect.List) io.Reader {
	encoding, _, _ = strings.Cut(strings.ToLower(encoding), ";")
	switch strings.Trim(encoding, " \t\"'") {
	case "", "7bit", "8bit", "binary", "7-bit", "8-bit", "none":
		return r
	case "base64":
		return newBase64Reader(r, found)
	case "quoted-printable":
		return &quotedPrintableReader{r: bufio.NewReaderSize(r, 4096), found: found}
	case "x-uuencode", "uuencode", "x-uue", "uue":
		return &uuencodeReader{r: bufio.NewReaderSize(r, 4096), found: found}
	default:
		found.Add(defect.TransferEncoding)
		return r
	}
}

// HexValue returns the four bits of a hexadecimal digit, or 16 for any other byte.
func HexValue(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}
