package charset

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"

	"podium/ingest/mime/defect"
)

// ToUTF8 decodes bytes of a declared character set; "" is none declared. What
// does not fit is tried as UTF-8, of which a part may be damaged, as a set that the
// mail names elsewhere (found.Sets), as the set that it looks like, and as windows-1252,
// which the unlabelled mail of half of the world is. It never fails.
func ToUTF8(data []byte, label string, found *defect.List) string {
	label = NormalizeLabel(label)
	if label == "" || label == "utf-8" || label == "us-ascii" {
		if IsUTF8(data) {
			return Clean(string(data))
		}
		text, likely := RepairUTF8(data)
		if label == "" && FitsNamed(data, found) {
			likely = false // a few octets of other sets look like UTF-8
		}
		if label != "" || likely {
			found.Add(defect.Characters)
		}
		if likely {
			return Clean(text)
		}
		return Clean(guess(data, "", found))
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
	return Clean(guess(data, label, found))
}

// guess reads bytes that are not in the set that they declare.
func guess(data []byte, label string, found *defect.List) string {
	decode, ok := choose(data, found.Sets, label)
	if !ok {
		text, _ := decodeWith(charmap.Windows1252, data) // it takes every byte
		return text
	}
	text := decode(data)
	if strings.ContainsRune(text, utf8.RuneError) {
		found.Add(defect.Characters)
	}
	return text
}

// Chosen returns what reads bytes whose set is not declared, and ok when there is a reason for it.
func Chosen(data []byte, found *defect.List) (decode func([]byte) string, ok bool) {
	return choose(data, found.Sets, "")
}

// choose returns what reads bytes. A set that another place of the mail names goes before the one that they look like where
// they fit it, and behind that where a few do not; so does the set that they declare themselves.
func choose(data []byte, sets []string, label string) (decode func([]byte) string, ok bool) {
	for _, set := range sets {
		if text, ok := decodeLabeled(data, set); ok && isMultibyte(set) && !strings.ContainsRune(text, utf8.RuneError) {
			return decoderOf(set), true
		}
	}
	for _, set := range sets {
		if text, ok := decodeLabeled(data, set); ok && isAlphabet(set) && isWords(text) {
			return decoderOf(set), true
		}
	}
	if set := Detect(data); set != nil {
		return func(data []byte) string {
			text, _ := decodeWith(set, data)
			return text
		}, true
	}
	for _, set := range append(slices.Clone(sets), label) {
		if text, ok := decodeLabeled(data, set); ok && isMostlyWhole(text) {
			return decoderOf(set), true
		}
	}
	return nil, false
}

func decoderOf(set string) func([]byte) string {
	return func(data []byte) string {
		text, _ := decodeLabeled(data, set)
		return text
	}
}

func isMultibyte(label string) bool {
	switch label {
	case "gb18030", "shift_jis", "euc-jp", "euc-kr", "big5":
		return true
	}
	return false
}

// isAlphabet tells whether a set of single bytes has an alphabet of its own above ASCII, and no Latin one.
func isAlphabet(label string) bool {
	set, err := htmlindex.Get(label)
	if err != nil {
		return false
	}
	name, err := htmlindex.Name(set)
	return err == nil && slices.Contains([]string{
		"koi8-r", "koi8-u", "ibm866", "x-mac-cyrillic", "windows-874", "windows-1251", "windows-1253", "windows-1255", "windows-1256",
		"iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-8-i",
	}, name)
}

// FitsNamed reports whether a set of several bytes that the mail names reads all of the bytes.
func FitsNamed(data []byte, found *defect.List) bool {
	return slices.ContainsFunc(found.Sets, func(set string) bool {
		text, ok := decodeLabeled(data, set)
		return ok && isMultibyte(set) && !strings.ContainsRune(text, utf8.RuneError)
	})
}

// isWords tells whether text above ASCII is letters and marks of words for the most part, and nothing of it is damaged.
func isWords(text string) bool {
	all, letters := 0, 0
	for _, r := range text {
		if r >= utf8.RuneSelf {
			all++
			if unicode.IsLetter(r) || unicode.IsMark(r) {
				letters++
			}
		}
	}
	return letters*10 >= all*8 && !strings.ContainsRune(text, utf8.RuneError)
}

// isMostlyWhole tells whether at most one in three characters above ASCII is damaged.
func isMostlyWhole(text string) bool {
	all := 0
	for _, r := range text {
		if r >= utf8.RuneSelf {
			all++
		}
	}
	return strings.Count(text, "\uFFFD")*3 <= all
}

func decodeWith(set encoding.Encoding, data []byte) (string, bool) {
	text, err := set.NewDecoder().Bytes(data)
	return string(text), err == nil
}

// IsUTF8 tells whether bytes are UTF-8 and no escapes of ISO-2022-JP, which are
// ASCII as well.
func IsUTF8(data []byte) bool { return utf8.Valid(data) && !hasISO2022JPEscape(data) }

// decodeLabeled decodes by the labels of the web first, where iso-8859-1 means
// windows-1252 as it does in mail, then by the names of IANA.
func decodeLabeled(data []byte, label string) (string, bool) {
	if label == "utf-7" {
		return decodeUTF7(data), true
	}
	if label == "hz-gb-2312" {
		return decodeWith(simplifiedchinese.HZGB2312, data)
	}
	if set, err := htmlindex.Get(label); err == nil {
		if name, err := htmlindex.Name(set); err == nil && name != "replacement" {
			return decodeWith(set, data)
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
	label = strings.ToLower(strings.Trim(label, " \t\"';,"))
	label, _, _ = strings.Cut(label, "*") // RFC 2231, section 5: charset*language
	switch label {
	case "utf8", "utf_8", "utf 8", "x-utf-8", "x-utf8", "csutf8", "unicode-1-1-utf-8", "utf-8n", "utf8mb4", "utf-8-sig":
		return "utf-8"
	case "ascii", "us-ascii", "ansi_x3.4-1968", "7bit", "8bit", "unknown", "unknown-8bit", "default", "none", "_autodetect":
		return "us-ascii"
	case "utf7", "unicode-1-1-utf-7", "unicode-2-0-utf-7", "x-unicode-2-0-utf-7", "csunicode11utf7", "csutf7":
		return "utf-7"
	}
	if alias := aliases[label]; alias != "" {
		return alias
	}
	if parts := codePage.FindStringSubmatch(label); parts != nil {
		if alias := aliases["cp"+parts[1]]; alias != "" {
			return alias
		}
		if len(parts[1]) == 4 {
			return "windows-" + parts[1]
		}
		return "cp" + parts[1]
	}
	return label
}

// aliases are names that the web does not know, or means less by than mail: of the Chinese sets, the largest has all the others.
//
//nolint:gochecknoglobals // a table that nothing changes
var aliases = map[string]string{
	"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "gb_2312-80": "gb18030", "gb2312-80": "gb18030", "gb_2312": "gb18030", "csgb2312": "gb18030",
	"chinese": "gb18030", "iso-ir-58": "gb18030", "csiso58gb231280": "gb18030", "euc-cn": "gb18030", "x-euc-cn": "gb18030", "euccn": "gb18030",
	"gb-18030": "gb18030", "gb18030-2000": "gb18030", "gb-2312": "gb18030", "cp936": "gb18030", "cp54936": "gb18030", "x-gb2312": "gb18030", "x-gb18030": "gb18030",
	"hz": "hz-gb-2312", "x-hz": "hz-gb-2312", "cp52936": "hz-gb-2312",
	"sjis": "shift_jis", "x-sjis": "shift_jis", "shift-jis": "shift_jis", "shiftjis": "shift_jis", "x-shift-jis": "shift_jis", "ms_kanji": "shift_jis",
	"csshiftjis": "shift_jis", "windows-31j": "shift_jis", "cswindows31j": "shift_jis", "cp932": "shift_jis", "cp943": "shift_jis", "shift_jisx0213": "shift_jis",
	"x-euc-jp": "euc-jp", "eucjp": "euc-jp", "cseucpkdfmtjapanese": "euc-jp", "eucjp-ms": "euc-jp", "eucjp-win": "euc-jp", "cp51932": "euc-jp", "cp20932": "euc-jp",
	"cp50220": "iso-2022-jp", "cp50221": "iso-2022-jp", "cp50222": "iso-2022-jp", "iso-2022-jp-1": "iso-2022-jp", "iso-2022-jp-2": "iso-2022-jp",
	"iso-2022-jp-3": "iso-2022-jp", "iso-2022-jp-ms": "iso-2022-jp", "iso2022jp": "iso-2022-jp", "csiso2022jp": "iso-2022-jp", "jis": "iso-2022-jp",
	"ks_c_5601-1987": "euc-kr", "ks_c_5601-1989": "euc-kr", "ks_c_5601": "euc-kr", "ksc5601": "euc-kr", "ksc_5601": "euc-kr", "ks_x_1001": "euc-kr", "korean": "euc-kr",
	"iso-ir-149": "euc-kr", "csksc56011987": "euc-kr", "cseuckr": "euc-kr", "euckr": "euc-kr", "uhc": "euc-kr", "cp949": "euc-kr", "cp51949": "euc-kr",
	"big5-hkscs": "big5", "big5hkscs": "big5", "cn-big5": "big5", "csbig5": "big5", "x-x-big5": "big5", "big-5": "big5", "big5-eten": "big5", "cp950": "big5",
	"cp874": "windows-874", "cp65001": "utf-8", "cp65000": "utf-7", "cp20127": "us-ascii", "cp28591": "windows-1252", "cp28605": "iso-8859-15", "cp20866": "koi8-r", "cp21866": "koi8-u",
	"koi8": "koi8-r", "koi-8-r": "koi8-r", "koi8r": "koi8-r", "iso-latin-1": "windows-1252", "latin-1": "windows-1252", "iso-8859-1-windows": "windows-1252",
}

// codePage is a set of Microsoft by its number: cp-932, ms932, windows1251, win-1251, x-cp1251, ansi-1251.
var codePage = regexp.MustCompile(`^(?:x-)?(?:cp|ms|windows|win|ansi|ibm|dos|x-ms-cp)[-_]?(\d{3,5})$`)

var metaCharset = regexp.MustCompile(`(?i)<meta[^>]{0,200}charset\s*=\s*["']?([a-z0-9_:.-]{2,40})`)

// DeclaredInHTML returns the character set that a page itself declares, or "".
func DeclaredInHTML(page []byte) string {
	if match := metaCharset.FindSubmatch(page[:min(len(page), 2048)]); match != nil {
		return string(match[1])
	}
	return ""
}
