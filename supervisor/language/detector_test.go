package language_test

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"podium/supervisor/language"
)

//go:embed testdata/*.txt
var testdata embed.FS

var update = flag.Bool("update", false, "write what a new way of judging says; that of a published one stays")

// A sample is a text and the language that it should be in.
type sample struct{ tag, text string }

// samples reads a file: lines below a tag.
func samples(t *testing.T, name string) []sample {
	t.Helper()
	body, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	tag := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if said, is := strings.CutPrefix(line, "== "); is {
			tag = said
		} else if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, sample{tag, strings.ReplaceAll(line, `\n`, "\n")})
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s holds nothing", name)
	}
	return all
}

var tags = []string{"de", "en", "fr", "nl", "es", "it", "pl", "tr", "da"}

func detector(tb testing.TB) *language.Detector {
	tb.Helper()
	found, err := language.Find(language.Text1)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// TestNothingFittingIsRefused holds texts in their language, and texts full of names, numbers, code and quotations, to pass.
func TestNothingFittingIsRefused(t *testing.T) {
	t.Parallel()
	d := detector(t)
	for _, s := range append(samples(t, "texts.txt"), samples(t, "fitting.txt")...) {
		if found := d.Other(s.text, s.tag, language.Said{}); found != "" {
			t.Errorf("%s: %q is taken for %s", s.tag, s.text, found)
		}
	}
}

func TestPartsAreFound(t *testing.T) {
	t.Parallel()
	d := detector(t)
	for _, s := range samples(t, "mixed.txt") {
		if d.Other(s.text, s.tag, language.Said{}) == "" {
			t.Errorf("%s: nothing is found in %q", s.tag, s.text)
		}
	}
}

// TestFigures holds the figures that the documentation has: of texts in another language, how many are not found.
func TestFigures(t *testing.T) {
	t.Parallel()
	d, all := detector(t), samples(t, "texts.txt")
	lengths := [...]struct {
		name string
		most int
	}{{"up to 5 words", 5}, {"6 to 20 words", 20}, {"more words", 1 << 20}}
	var said strings.Builder
	verdicts := sha256.New()
	for _, half := range [...]string{"chosen by", "held out"} {
		for _, own := range tags {
			var missed, of [len(lengths)]int
			for i, s := range all {
				found := d.Other(s.text, own, language.Said{})
				fmt.Fprintln(verdicts, own, s.text, found, d.Fits(s.text, own, language.Said{}))
				if s.tag == own || i%2 == 0 != (half == "chosen by") {
					continue
				}
				at := 0
				for len(strings.Fields(s.text)) > lengths[at].most {
					at++
				}
				of[at]++
				if found == "" {
					missed[at]++
				}
			}
			fmt.Fprintf(&said, "%s, %s:", half, own)
			for at := range lengths {
				fmt.Fprintf(&said, " %s %d of %d;", lengths[at].name, missed[at], of[at])
			}
			said.WriteString("\n")
		}
	}
	for _, name := range [...]string{"fitting.txt", "mixed.txt"} {
		for _, s := range samples(t, name) {
			fmt.Fprintln(verdicts, s.text, d.Other(s.text, s.tag, language.Said{}))
		}
	}
	fmt.Fprintln(&said, "every verdict:", hex.EncodeToString(verdicts.Sum(nil)))
	fmt.Fprintln(&said, "the model:", modelSum(t))
	golden(t, said.String())
}

func modelSum(t *testing.T) string {
	t.Helper()
	folder := os.DirFS("models/" + language.Text1)
	names, err := fs.Glob(folder, "*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	sum := sha256.New()
	for _, name := range names {
		body, err := fs.ReadFile(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(body)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func golden(t *testing.T, said string) {
	t.Helper()
	const path = "testdata/text1.golden"
	if *update {
		if err := os.WriteFile(path, []byte(said), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != said {
		t.Errorf("%s says otherwise than it did; runs of pinned profiles would be decided otherwise. Give what is new another name.\n%s", language.Text1, said)
	}
}

// TestShortTextsFit holds what agents say beside results: it passes only when it is rather in the right language.
func TestShortTextsFit(t *testing.T) {
	t.Parallel()
	d := detector(t)
	for text, fits := range map[string]bool{
		"Drucker offline": true, "Kein Papier": true, "Für welchen Tag?": true, "An wen?": true, "Welche Menge?": true, "Zimmer belegt": true,
		"Konto gesperrt": true, "Der Server antwortet nicht.": true, "Datei nicht gefunden: x.txt": true, "Soll ich das bestellen?": true, "": true, "404": true,
		"Dr. Müller": true, "connection refused": false, "timeout reached": false, "permission denied": false, "disk full": false, "no such patient": false,
		"Which day?": false, "What is the date of the appointment?": false, "internal server error": false, "Out of stock": false, "The model gave no answer.": false,
		"rendez-vous impossible": false, "geen plaats meer": false, "нет связи с сервером": false,
	} {
		if d.Fits(text, "de", language.Said{}) != fits {
			t.Errorf("%q fits: %t", text, !fits)
		}
	}
	if !d.Fits("what was said", "xx", language.Said{}) {
		t.Error("a text does not fit a language that nobody knows")
	}
}

func TestWordsOfThePersonAreNotJudged(t *testing.T) {
	t.Parallel()
	d := detector(t)
	const said = "Please note for me: the car has to be at the garage on Monday before nine"
	const text = "Notiert habe ich: the car has to be at the garage on Monday before nine. Ich erinnere Sie am Sonntag."
	if found := d.Other(text, "de", language.SaidIn(said)); found != "" {
		t.Errorf("words of the person are taken for %s", found)
	}
	if found := d.Other(text, "de", language.SaidIn("Was ist notiert?")); found != "en" {
		t.Errorf("words that nobody has said are taken for %q", found)
	}
}

// TestOtherLanguagesThanThoseKnown tells that a text fits no better because nobody has taught the program its language.
func TestOtherLanguagesThanThoseKnown(t *testing.T) {
	t.Parallel()
	d := detector(t)
	for name, text := range map[string]string{
		"Welsh":     "Mae eich apwyntiad wedi ei gadarnhau ar gyfer dydd Mawrth. Dewch â'ch cerdyn yswiriant gyda chi os gwelwch yn dda.",
		"Swahili":   "Miadi yako imethibitishwa kwa siku ya Jumanne. Tafadhali njoo na kadi yako ya bima ya afya na orodha ya dawa.",
		"Icelandic": "Tíminn þinn er staðfestur á þriðjudaginn. Vinsamlegast komdu með tryggingakortið þitt og lista yfir lyfin.",
		"Afrikaans": "Jou afspraak is bevestig vir Dinsdag. Bring asseblief jou versekeringskaart saam en 'n lys van jou medisyne.",
		"Thai":      "นัดหมายของคุณได้รับการยืนยันแล้ว",
		"Japanese":  "ご予約は火曜日に確定しました。",
		"Korean":    "예약이 화요일로 확정되었습니다.",
	} {
		if d.Other(text, "de", language.Said{}) == "" {
			t.Errorf("%s is not found to be another language than German", name)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	if _, err := language.Find("text0"); !errors.Is(err, language.ErrUnknown) || !strings.Contains(err.Error(), `"text1"`) {
		t.Errorf("an unknown way of judging: %v", err)
	}
	d := detector(t)
	for _, tag := range tags {
		if !d.Knows(tag) {
			t.Errorf("%s is not known", tag)
		}
	}
	if d.Knows("la") || d.Knows("xx") || d.Knows("") {
		t.Error("a language is known that texts cannot be judged for")
	}
	if found := d.Other("Your appointment is confirmed for Monday.", "xx", language.Said{}); found != "" {
		t.Errorf("judged for a language that is not known: %s", found)
	}
}

func FuzzOther(f *testing.F) {
	for _, text := range []string{"", "Der Termin ist am Montag.", "```\ncode", "„“\"<>`", "\u0130I\u0307\xff", "> x\n> y", "a\u0300\u0301"} {
		f.Add(text, "Der Termin")
	}
	d := detector(f)
	f.Fuzz(func(t *testing.T, text, said string) {
		if one, other := d.Other(text, "de", language.SaidIn(said)), d.Other(text, "de", language.SaidIn(said)); one != other {
			t.Errorf("%q is %q, and then %q", text, one, other)
		}
	})
}

func BenchmarkOther(b *testing.B) {
	d := detector(b)
	text := strings.Repeat("Der Bericht fasst die Untersuchung vom 12. November zusammen. Es fand sich kein Hinweis auf eine Entzündung. ", 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if d.Other(text, "de", language.Said{}) != "" {
			b.Fatal("it fits")
		}
	}
}

func ExampleDetector_Other() {
	d, err := language.Find(language.Text1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", d.Other("Ihr Termin ist am Montag um neun.", "de", language.Said{}))
	fmt.Printf("%q\n", d.Other("Ihr Termin ist bestätigt. Please bring your insurance card with you.", "de", language.Said{}))
	fmt.Printf("%q\n", d.Other("Ok, 42", "de", language.Said{})) // nobody can tell
	// Output:
	// ""
	// "en"
	// ""
}
