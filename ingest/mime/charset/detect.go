package charset

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf16 "golang.org/x/text/encoding/unicode"
)

// maxDetected bounds the bytes by which a character set is guessed.
const maxDetected = 64 << 10

// Detect guesses the character set of text that is not UTF-8 and either has no
// label or one that does not fit. It returns nil where it sees no better reason
// than for windows-1252: a wrong guess among the western sets costs an accent, one
// towards an eastern set costs the whole text.
func Detect(data []byte) encoding.Encoding {
	sample := data[:min(len(data), maxDetected)]
	switch {
	case bytes.HasPrefix(sample, []byte{0xff, 0xfe}), bytes.HasPrefix(sample, []byte{0xfe, 0xff}):
		if len(data)%2 == 0 {
			return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM)
		}
	case hasISO2022JPEscape(sample):
		return japanese.ISO2022JP
	}
	high, runs, latin := countLetters(sample)
	if high < 3*runs && high < latin {
		return nil // accents stand alone among Latin letters
	}
	if high >= minCyrillic && high >= latin {
		if found := cyrillicWords(sample); found != nil {
			return found
		}
	}
	if high < minHigh {
		return nil
	}
	if found := multibyte(sample, false); found != nil {
		return found
	}
	if high >= 3*runs {
		if found := cyrillic(sample); found != nil {
			return found
		}
	}
	return multibyte(sample, true)
}

const (
	minHigh     = 10 // bytes above ASCII; fewer tell nothing
	minCyrillic = 5  // the same of text whose words are Cyrillic
)

func hasISO2022JPEscape(data []byte) bool {
	return bytes.Contains(data, []byte("\x1b$B")) || bytes.Contains(data, []byte("\x1b$@"))
}

// countLetters counts the bytes above ASCII, the stretches that they form, and the
// letters of ASCII.
func countLetters(sample []byte) (high, runs, latin int) {
	inside := false
	for _, c := range sample {
		switch {
		case c >= 0x80:
			high++
			if !inside {
				runs++
			}
		case IsLetter(c):
			latin++
		}
		inside = c >= 0x80
	}
	return high, runs, latin
}

// multibyte tries the sets of East Asia: every byte must fit, unless a part may be damaged, and the common characters of the
// language must be most of what is read.
func multibyte(sample []byte, mayBeDamaged bool) encoding.Encoding {
	var best encoding.Encoding
	bestShare := 0.8
	for _, candidate := range [...]struct {
		encoding encoding.Encoding
		lowest   byte // above ASCII, in what people write
		common   func(rune) bool
	}{
		{japanese.EUCJP, 0x8e, kana},
		{japanese.ShiftJIS, 0x80, kana},
		{korean.EUCKR, 0xa1, hangul},
		{simplifiedchinese.GBK, 0x80, frequent},
		{traditionalchinese.Big5, 0x80, frequent},
	} {
		text, ok := decodeWith(candidate.encoding, sample)
		if !ok || hasForeign(sample, candidate.lowest, mayBeDamaged) {
			continue
		}
		if mayBeDamaged {
			text = wholePieces(text)
		}
		if candidate.encoding == korean.EUCKR && !isKorean(text) {
			continue
		}
		if share := shareOf(text, candidate.common); share > bestShare {
			best, bestShare = candidate.encoding, share
		}
	}
	return best
}

// hasForeign tells whether there are bytes below the lowest above ASCII: any, or more than one in twenty.
func hasForeign(sample []byte, lowest byte, mayBeDamaged bool) bool {
	foreign, high := 0, 0
	for _, c := range sample {
		if c < 0x80 {
			continue
		}
		if high++; c < lowest {
			foreign++
		}
	}
	return foreign > 0 && (!mayBeDamaged || foreign*20 > high)
}

// isDamage tells of a character that it could not be read, or that nobody writes in running text.
func isDamage(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Co, unicode.Cc) && r >= 0x80 || r >= 0xff61 && r <= 0xff9f
}

const pieceLength = 40 // characters

// wholePieces returns the pieces of a text that have no damage: lines, and parts of long lines. It returns none where these
// are less than two thirds of what is above ASCII.
func wholePieces(text string) string {
	var out, piece strings.Builder
	all, kept, inPiece, length := 0, 0, 0, 0
	damaged := false
	flush := func() {
		if !damaged {
			out.WriteString(piece.String())
			kept += inPiece
		}
		piece.Reset()
		inPiece, length, damaged = 0, 0, false
	}
	for _, r := range text {
		if r == '\n' || length == pieceLength {
			flush()
		}
		piece.WriteRune(r)
		length++
		if r >= 0x80 {
			all++
			inPiece++
		}
		damaged = damaged || isDamage(r)
	}
	flush()
	if kept*3 < all*2 {
		return ""
	}
	return out.String()
}

// shareOf rates a reading between 0 and 1; characters that could not be read or
// that nobody writes in running text count against it.
func shareOf(text string, common func(rune) bool) float64 {
	good, typical, all := 0, 0, 0
	for _, r := range strings.TrimSuffix(text, "\uFFFD") { // the sample may end within a character
		if r < 0x80 {
			continue
		}
		all++
		switch {
		case isDamage(r):
			return 0
		case common(r):
			good++
			typical++
		case unicode.In(r, unicode.Han), r >= 0x3000 && r <= 0x303f, r >= 0xff00 && r <= 0xff60:
			good++
		}
	}
	if all == 0 || typical*10 < all {
		return 0
	}
	return (float64(good) + float64(typical)/float64(all)) / float64(all+1)
}

func kana(r rune) bool   { return r >= 0x3041 && r <= 0x30ff }
func hangul(r rune) bool { return r >= 0xac00 && r <= 0xd7a3 }

// isKorean tells whether at most one in ten characters of Korean text is Chinese.
func isKorean(text string) bool {
	chinese, own := 0, 0
	for _, r := range text {
		switch {
		case hangul(r):
			own++
		case unicode.Is(unicode.Han, r):
			chinese++
		}
	}
	return chinese*10 <= own
}

// frequent are the characters that Chinese is full of, in both of its spellings.
func frequent(r rune) bool {
	return strings.ContainsRune("的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年过過发發后後作里裡用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心她本前开開但因只从從想实實您请請谢謝，。、！？", r)
}

// cyrillicWords returns the set in which text is Cyrillic words: most are in small letters, in
// capitals or in small letters behind a capital, and their letters are those that Slavic
// languages are full of. It tells the same of few words, which are pairs of bytes in the sets of
// East Asia as well.
func cyrillicWords(sample []byte) encoding.Encoding {
	var best encoding.Encoding
	most := minCommonness
	for _, candidate := range [...]encoding.Encoding{
		charmap.Windows1251, charmap.KOI8R, charmap.KOI8U, charmap.ISO8859_5,
	} {
		text, _ := decodeWith(candidate, sample)
		if found := commonness(text); found > most {
			best, most = candidate, found
		}
	}
	return best
}

const minCommonness = 40 // in a thousand, of the letters of a text on average

// commonness returns how often the letters of a text stand in a thousand of Cyrillic text, on
// average, or 0 for text that is no Cyrillic words.
func commonness(text string) int {
	total, letters, others, words, odd := 0, 0, 0, 0, 0
	var before rune
	start, capitals, small := false, false, false // of the word that is being read
	for _, r := range text {
		isLetter := unicode.Is(unicode.Cyrillic, r)
		switch {
		case isLetter:
			if !unicode.Is(unicode.Cyrillic, before) {
				words++
				start, capitals, small = true, false, false
			}
			isCapital := unicode.IsUpper(r)
			if !start && (isCapital && small || !isCapital && capitals) {
				odd++
				capitals, small = false, false // the word is counted once
			} else if !start {
				capitals, small = isCapital, !isCapital
			} else {
				small = !isCapital
			}
			start = false
			letters++
			total += letterFrequency[unicode.ToLower(r)]
		case r >= utf8.RuneSelf && !strings.ContainsRune("\u00a0«»–—„“”’…№", r):
			others++
		}
		before = r
	}
	if letters == 0 || others*10 > letters || odd*10 > words {
		return 0
	}
	return total / letters
}

// letterFrequency is how often letters stand in a thousand of Russian, Ukrainian or Bulgarian text.
var letterFrequency = map[rune]int{ //nolint:gochecknoglobals // a table that nothing changes
	'о': 109, 'е': 85, 'а': 80, 'и': 74, 'н': 67, 'т': 63, 'с': 55, 'р': 47, 'в': 45, 'л': 44, 'к': 35, 'м': 32, 'д': 30,
	'п': 28, 'у': 26, 'я': 20, 'ы': 19, 'ь': 17, 'г': 17, 'з': 17, 'б': 16, 'ч': 14, 'й': 12, 'х': 10, 'ж': 9, 'ш': 7,
	'ю': 6, 'ц': 5, 'щ': 4, 'э': 3, 'ф': 3, 'ъ': 8, 'ё': 2, 'і': 60, 'ї': 6, 'є': 5, 'ґ': 1,
}

// cyrillic tells the two sets apart that Russian is written in: their small
// letters stand where the other's capitals do, and text is mostly small letters.
func cyrillic(sample []byte) encoding.Encoding {
	lower, upper, other := 0, 0, 0
	for _, c := range sample {
		switch {
		case c >= 0xe0:
			upper++
		case c >= 0xc0:
			lower++
		case c >= 0x80:
			other++
		}
	}
	switch {
	case other*5 > lower+upper:
		return nil
	case lower > 2*upper:
		return charmap.KOI8R
	case upper > 2*lower:
		return charmap.Windows1251
	}
	return nil
}
