package transfer

import (
	"bufio"
	"encoding/hex"
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

// Octet returns what two hexadecimal digits at the beginning say, or false for anything else.
func Octet(digits []byte) (byte, bool) {
	var octet [1]byte
	_, err := hex.Decode(octet[:], digits[:min(len(digits), 2)])
	return octet[0], err == nil && len(digits) >= 2
}
