package charset

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"podium/ingest/mime/defect"
)

// ToUTF8 decodes bytes of a declared character set; "" is none declared. What
// does not fit is tried as UTF-8, of which a part may be damaged, as the set that
// it looks like, and as windows-1252, which the unlabelled mail of half of the
// world is. It never fails.
func ToUTF8(data []byte, label string, found *defect.List) string {
	label = NormalizeLabel(label)
	if label == "" || label == "utf-8" || label == "us-ascii" {
		if IsUTF8(data) {
			return Clean(string(data))
		}
		text, likely := RepairUTF8(data)
		if label != "" || likely {
			found.Add(defect.Characters)
		}
		if likely {
			return Clean(text)
		}
		return Clean(guess(data))
	}
	text, known := decodeLabeled(data, label)
	switch {
	case known && !strings.ContainsRune(text, utf8.RuneError):
		return Clean(text)
	case known:
		found.Add(defect.Characters)
	default:
		found.Add(defect.Charset)
	}
	sevenBit := label == "utf-7" && IsASCII(string(data)) // which nobody would take for plain text
	if IsUTF8(data) && !sevenBit {
		return Clean(string(data))
	}
	if sevenBit || known && strings.Count(text, "\uFFFD")*20 < len(text) {
		return Clean(text) // a character or two are damaged
	}
	if mended, likely := RepairUTF8(data); likely {
		return Clean(mended)
	}
	return Clean(guess(data))
}

// IsUTF8 tells whether bytes are UTF-8 and no escapes of ISO-2022-JP, which are
// ASCII as well.
func IsUTF8(data []byte) bool { return utf8.Valid(data) && !hasISO2022JPEscape(data) }

// guess reads bytes whose character set nobody tells.
func guess(data []byte) string {
	if found := Detect(data); found != nil {
		if text, err := found.NewDecoder().Bytes(data); err == nil {
			return string(text)
		}
	}
	text, _ := charmap.Windows1252.NewDecoder().Bytes(data) // it takes every byte
	return string(text)
}

// decodeLabeled decodes by the labels of the web first, where iso-8859-1 means
// windows-1252 as it does in mail, then by the names of IANA.
func decodeLabeled(data []byte, label string) (string, bool) {
	if label == "utf-7" {
		return decodeUTF7(data), true
	}
	if encoding, err := htmlindex.Get(label); err == nil {
		if name, err := htmlindex.Name(encoding); err == nil && name != "replacement" {
			text, err := encoding.NewDecoder().Bytes(data)
			return string(text), err == nil
		}
	}
	reader, err := charset.Reader(label, strings.NewReader(string(data)))
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(reader)
	return string(text), err == nil
}

// NormalizeLabel returns the name of a character set in lower case, without what
// programs add to it; of UTF-8, ASCII and UTF-7 always the same.
func NormalizeLabel(label string) string {
	label = strings.ToLower(strings.Trim(label, " \t\"'"))
	label, _, _ = strings.Cut(label, "*") // RFC 2231, section 5: charset*language
	switch label {
	case "utf8", "unicode-1-1-utf-8", "utf-8n", "utf8mb4", "utf-8-sig":
		return "utf-8"
	case "ascii", "us-ascii", "ansi_x3.4-1968", "7bit", "8bit", "unknown", "unknown-8bit", "default", "none", "_autodetect":
		return "us-ascii"
	case "utf7", "unicode-1-1-utf-7", "unicode-2-0-utf-7", "x-unicode-2-0-utf-7", "csunicode11utf7", "csutf7":
		return "utf-7"
	}
	if number, isCodePage := strings.CutPrefix(label, "cp-"); isCodePage {
		return "cp" + number
	}
	return label
}

var metaCharset = regexp.MustCompile(`(?i)<meta[^>]{0,200}charset\s*=\s*["']?([a-z0-9_:.-]{2,40})`)

// DeclaredInHTML returns the character set that a page itself declares, or "".
func DeclaredInHTML(page []byte) string {
	if match := metaCharset.FindSubmatch(page[:min(len(page), 2048)]); match != nil {
		return string(match[1])
	}
	return ""
}
