package transfer

import (
	"errors"
	"io"

	"podium/ingest/mime/defect"
)

// A base64Reader decodes base64 data (RFC 2045, section 6.8), skipping what is not
// of the alphabet. The data end with their padding, or with a line after which
// plain words follow: what a list or a gateway has put below them is left out, and
// said. More base64 below is read on, since lists encode their words as well.
type base64Reader struct {
	r        io.Reader
	found    *defect.List
	input    [4096]byte
	output   []byte
	given    int // bytes of output that were handed out
	ready    int // bytes of output that may be; the others are of the line that is read
	bits     uint32
	have     int // sextets in bits
	finished error

	line    base64Line
	width   int  // letters of the longest line
	url     bool // its letters 62 and 63 are those of RFC 4648, section 5
	stopped endOfBase64
}

// A base64Line is what was seen of a line, or behind padding in the same line.
type base64Line struct {
	aligned bool // it began with a group
	letters int
	foreign int  // what is of no group: not of the alphabet, or a blank inside of one
	url     int  // letters of the other alphabet
	blank   bool // a blank was read last
	closed  bool // padding ended its last group
	broken  bool // in the middle of a group
	long    bool // too long to be taken back
}

// An endOfBase64 says whether the data may have ended before the line that is read.
type endOfBase64 byte

const (
	goesOn    endOfBase64 = iota
	mayEnd                // a shorter line without padding
	wasPadded             //
	isOver                // all that follows is passed over
)

const (
	maxHeld     = 8 << 10 // bytes of a line that may be taken back
	minUnpadded = 16      // letters; a shorter line is more likely a word than base64 that goes on behind padding
)

func newBase64Reader(r io.Reader, found *defect.List) *base64Reader {
	return &base64Reader{r: r, found: found, line: base64Line{aligned: true}}
}

// Read implements io.Reader.
func (b *base64Reader) Read(p []byte) (int, error) {
	for b.given == b.ready {
		if b.finished != nil {
			return 0, b.finished
		}
		b.output = b.output[:copy(b.output, b.output[b.ready:])]
		b.given, b.ready = 0, 0
		n, err := b.r.Read(b.input[:])
		if b.stopped != isOver {
			b.decode(b.input[:n])
		}
		if err != nil {
			b.finished = err
			b.end(errors.Is(err, io.EOF))
		}
	}
	n := copy(p, b.output[b.given:b.ready])
	b.given += n
	return n, nil
}

func (b *base64Reader) decode(data []byte) {
	for i := 0; i < len(data) && b.stopped != isOver; {
		if b.have != 0 || b.line.blank || b.line.closed || i+4 > len(data) {
			b.take(data[i])
			i++
			continue
		}
		first, second, third, fourth := base64Values[data[i]], base64Values[data[i+1]], base64Values[data[i+2]], base64Values[data[i+3]]
		if first|second|third|fourth >= 64 {
			b.take(data[i])
			i++
			continue
		}
		b.output = append(b.output, first<<2|second>>4, second<<4|third>>2, third<<6|fourth)
		b.line.letters += 4
		i += 4
	}
	if len(b.output)-b.ready <= maxHeld {
		return
	}
	if foreign := b.line.foreign; foreign*20 > b.line.letters+foreign || foreign > 0 && b.stopped != goesOn {
		b.endLine()
	} else {
		b.ready, b.line.long = len(b.output), true
	}
}

// take reads one character.
func (b *base64Reader) take(c byte) {
	value := Base64Value(c)
	switch {
	case value < 64:
		if b.line.closed {
			if b.endLine(); b.stopped == isOver {
				return
			}
		}
		if b.line.blank && b.have != 0 {
			b.line.foreign++
		}
		if c == '-' || c == '_' {
			b.line.url++
		}
		b.line.blank = false
		b.line.letters++
		b.bits = b.bits<<6 | uint32(value)
		if b.have++; b.have == 4 {
			b.output = append(b.output, byte(b.bits>>16), byte(b.bits>>8), byte(b.bits))
			b.bits, b.have = 0, 0
		}
	case c == '=' && (b.line.closed || b.stopped == wasPadded && b.line.letters+b.line.foreign == 0):
	case c == '=' && b.have > 0:
		b.line.broken = b.line.broken || b.have == 1
		b.line.closed = true
		b.flush()
	case c == '\n':
		b.endLine()
	case c == ' ' || c == '\t':
		b.line.blank = true
	case c != '\r':
		b.line.foreign++
	}
}

// endLine decides whether what was read since the last decision belongs to the data.
func (b *base64Reader) endLine() {
	line := b.line
	b.line = base64Line{aligned: b.have == 0}
	if line.letters+line.foreign == 0 && !line.closed {
		return
	}
	if line.url > 0 && !b.url && b.width > 0 {
		line.foreign += line.url
	}
	whole := line.foreign == 0 && b.have == 0
	belongs := false
	switch b.stopped {
	case goesOn:
		belongs = line.foreign*20 <= line.letters+line.foreign || !line.aligned || b.width == 0
	case mayEnd:
		belongs = whole
	case wasPadded:
		belongs = whole && (line.closed || line.letters >= minUnpadded)
	case isOver:
	}
	if !belongs && !line.long {
		b.output = b.output[:b.ready]
		b.bits, b.have, b.stopped = 0, 0, isOver
		b.found.Add(defect.WordsBelowBase64)
		return
	}
	if line.foreign > 0 || line.broken {
		b.found.Add(defect.Base64)
	}
	b.ready, b.url = len(b.output), b.url || line.url > 0
	switch {
	case line.closed:
		b.stopped = wasPadded
	case line.letters < b.width && b.have == 0:
		b.stopped = mayEnd
	default:
		b.stopped = goesOn
	}
	b.width = max(b.width, line.letters)
}

// end takes what is left, of a group as well.
func (b *base64Reader) end(complete bool) {
	if b.stopped == isOver {
		return
	}
	partial := b.have > 0 && complete
	if partial && b.stopped == goesOn {
		b.flush()
	}
	b.endLine()
	if partial && b.stopped != isOver {
		b.found.Add(defect.Base64)
	}
	b.ready = len(b.output)
}

// flush ends a group of fewer than four characters.
func (b *base64Reader) flush() {
	switch b.have {
	case 2:
		b.output = append(b.output, byte(b.bits>>4))
	case 3:
		b.output = append(b.output, byte(b.bits>>10), byte(b.bits>>2))
	}
	b.bits, b.have = 0, 0
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" // RFC 2045, section 6.8

var base64Values = func() (table [256]byte) { //nolint:gochecknoglobals // a table, written once
	for c := range table {
		table[c] = 64
	}
	for value := range len(alphabet) {
		table[alphabet[value]] = byte(value)
	}
	return table
}()

// StandardBase64Value returns the six bits of a letter of base64 in mail, or 64 for any
// other byte.
func StandardBase64Value(c byte) byte { return base64Values[c] }

// Base64Value is the same for a letter of either alphabet (RFC 4648, sections 4 and 5).
func Base64Value(c byte) byte {
	switch c {
	case '-':
		return 62
	case '_':
		return 63
	}
	return base64Values[c]
}
