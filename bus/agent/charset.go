package agent

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// decodeBody returns a body in UTF-8, without its byte order mark: by that mark, else by the charset of its media type, else
// as UTF-8. It fails with ErrUnreadable on a charset that is not known, and on bytes that the charset cannot hold, so that
// no answer has a replacement character that the sender has not written.
func decodeBody(said []byte, mediaType string) ([]byte, error) {
	var label string
	if _, parameters, err := mime.ParseMediaType(mediaType); err == nil {
		label = strings.ToLower(strings.TrimSpace(parameters["charset"]))
	}
	from := encodingOf(said, label)
	if from == nil && label != "" && label != "utf-8" && label != "utf8" && label != "us-ascii" && !isMarkedUTF8(said) {
		found, err := htmlindex.Get(label)
		if err != nil {
			return nil, unreadable("its charset is not known; send UTF-8")
		}
		from = found
	}
	if from == nil || from == unicode.UTF8 {
		if !utf8.Valid(said) {
			return nil, unreadable("it holds bytes that are no UTF-8; name its charset in Content-Type")
		}
		return bytes.TrimPrefix(said, utf8Mark()), nil
	}
	decoded, err := from.NewDecoder().Bytes(said)
	if err != nil || bytes.ContainsRune(decoded, utf8.RuneError) {
		return nil, unreadable("it holds bytes that are none of its charset")
	}
	return decoded, nil
}

func utf8Mark() []byte { return []byte("\xef\xbb\xbf") }

func isMarkedUTF8(said []byte) bool { return bytes.HasPrefix(said, utf8Mark()) }

// encodingOf returns UTF-16 where a byte order mark or the charset says so; else nil. Without a mark and an order in the
// charset, the zero byte of the first character tells the order.
func encodingOf(said []byte, label string) encoding.Encoding {
	switch {
	case bytes.HasPrefix(said, []byte("\xff\xfe\x00\x00")):
		return nil // UTF-32, which htmlindex does not know
	case bytes.HasPrefix(said, []byte("\xff\xfe")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(said, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case label == "utf-16le" || label == "utf-16" && len(said) > 1 && said[0] != 0 && said[1] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case label == "utf-16be" || label == "utf-16":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}
