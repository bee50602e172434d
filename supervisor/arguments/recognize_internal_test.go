package arguments

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// monday is the moment from which the tests count: the 23 November 2026.
var monday = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func readerOf(t *testing.T, lang, text string, spec Spec) *reader {
	t.Helper()
	f, err := Compile(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.read(text, f.languageOf(lang), monday)
}

// told is what was found: readings with | between them, ~ before what is not sure.
func told(all []found) string {
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = strings.Join(f.readings, "|")
		if f.bound {
			texts[i] = "~" + texts[i]
		}
	}
	return strings.Join(texts, " ")
}

func TestDates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ lang, text, want string }{
		{"de", "am 3.12.2026", "2026-12-03"},
		{"de", "am 03.12.26 um 9", "2026-12-03"},
		{"de", "3. 12. 2026", "2026-12-03"},
		{"de", "am 3.12.", "2026-12-03"},
		{"de", "am 3.12 bitte", "2026-12-03"},
		{"de", "2026-12-03", "2026-12-03"},
		{"de", "3. Dezember", "2026-12-03"},
		{"de", "3. Dez. 2027", "2027-12-03"},
		{"de", "1. Februar", "2027-02-01"},
		{"de", "am 23. November", "2026-11-23"},
		{"de", "29. Februar", "2028-02-29"},
		{"de", "3/12/2026", "2026-12-03"},
		{"de", "heute, morgen und übermorgen", "2026-11-23 2026-11-24 2026-11-25"},
		{"de", "Guten Morgen", ""},
		{"de", "am Morgen", ""},
		{"de", "morgen früh", "2026-11-24"},
		{"de", "am Donnerstag", "2026-11-26"},
		{"de", "am Montag", "2026-11-23|2026-11-30"},
		{"de", "nächsten Dienstag", "2026-11-24|2026-12-01"},
		{"de", "kommenden Dienstag", "2026-11-24"},
		{"de", "nächsten Montag", "2026-11-30"},
		{"de", "Dienstag nächster Woche", "2026-12-01"},
		{"de", "nächste Woche Dienstag", "2026-12-01"},
		{"de", "letzten Freitag", "2026-11-20"},
		{"de", "Donnerstag, 3.12.2026", "2026-12-03"},
		{"de", "Dienstag, den 3.12.2026", "~2026-12-03"},
		{"de", "in 3 Tagen", "2026-11-26"},
		{"de", "in zwei Wochen", "2026-12-07"},
		{"de", "in einem Monat", "2026-12-23"},
		{"de", "vor zwei Wochen", "2026-11-09"},
		{"de", "Ende der Woche", ""},
		{"de", "am 15. bitte", "2026-12-15|2027-01-15"},
		{"de", "am 30.", "2026-11-30"},
		{"de", "am 3. oder 4. Dezember", "~2026-12-03|2027-01-03 ~2026-12-04"},
		{"de", "3.12.-5.12.2026", "~2026-12-03 ~2026-12-05"},
		{"de", "31.2.2026", ""},
		{"de", "Version 1.2.3.4", ""},
		{"de", "um 14.30 Uhr", ""},
		{"de", "1.12.3", ""},
		{"en", "December 3rd", "2026-12-03"},
		{"en", "Dec. 3, 2027", "2027-12-03"},
		{"en", "the 3rd of December", "2026-12-03"},
		{"en", "3 December at 9", "2026-12-03"},
		{"en", "12/3/2026", "2026-03-12|2026-12-03"},
		{"en", "12/25/2026", "2026-12-25"},
		{"en", "25/12/2026", "2026-12-25"},
		{"en", "3.12.2026", "2026-12-03|2026-03-12"},
		{"en", "on 12/12", "2026-12-12"},
		{"en", "take 1/2 tablet", ""},
		{"en", "today", "2026-11-23"},
		{"en", "tomorrow", "2026-11-24"},
		{"en", "the day after tomorrow", "2026-11-25"},
		{"en", "next Tuesday", "2026-11-24|2026-12-01"},
		{"en", "Tuesday next week", "2026-12-01"},
		{"en", "this Friday", "2026-11-27"},
		{"en", "in two weeks", "2026-12-07"},
		{"en", "three days ago", "2026-11-20"},
		{"en", "on the 15th", "2026-12-15|2027-01-15"},
		{"en", "end of the week", ""},
		{"en", "you may come", ""},
		{"fr", "2026-12-03", "2026-12-03"},
		{"fr", "demain", ""},
	} {
		if got := told(readerOf(t, test.lang, test.text, Spec{}).dates); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.lang, test.text, got, test.want)
		}
	}
}

// TestDatesOfThePast: of what was, a day without a year is the last such day.
func TestDatesOfThePast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"3. Dezember", "2025-12-03"},
		{"20.11.", "2026-11-20"},
		{"12.3.58", "1958-03-12"},
		{"12.3.26", "2026-03-12"},
		{"24.11.26", "1926-11-24"},
		{"12.3.1958", "1958-03-12"},
	} {
		r := readerOf(t, "de", test.text, Spec{})
		if len(r.dates) != 1 || fmt.Sprint(r.dates[0].inPast(monday)) != "["+test.want+"]" {
			t.Errorf("%q: %+v, want %s", test.text, r.dates, test.want)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ lang, text, bare, within string }{
		{"de", "14:30", "14:30", "14:30"},
		{"de", "14.30 Uhr", "14:30", "14:30"},
		{"de", "um 14.30", "14:30", "14:30"},
		{"de", "8:15", "08:15", "08:15"},
		{"de", "9 Uhr", "09:00", "09:00"},
		{"de", "9 Uhr 20", "09:20", "09:20"},
		{"de", "3 Uhr", "03:00", "15:00"},
		{"de", "03:00", "03:00", "03:00"},
		{"de", "um 9", "09:00|21:00", "09:00"},
		{"de", "um 3", "03:00|15:00", "15:00"},
		{"de", "um drei", "03:00|15:00", "15:00"},
		{"de", "halb drei", "02:30|14:30", "14:30"},
		{"de", "um halb neun", "08:30|20:30", "08:30"},
		{"de", "viertel nach vier", "04:15|16:15", "16:15"},
		{"de", "Viertel vor 5", "04:45|16:45", "16:45"},
		{"de", "dreiviertel fünf", "04:45|16:45", "16:45"},
		{"de", "um 3 Uhr nachmittags", "15:00", "15:00"},
		{"de", "Nachmittags um 3", "15:00", "15:00"},
		{"de", "morgens um 7", "07:00", "07:00"},
		{"de", "zwischen 9 und 11 Uhr", "~11:00", "~11:00"},
		{"de", "9-11 Uhr", "~11:00", "~11:00"},
		{"de", "um 3 Tage", "", ""},
		{"de", "um 20 Tabletten", "", ""},
		{"de", "um 25 Uhr", "", ""},
		{"de", "am 3.12.2026", "", ""},
		{"de", "12,5", "", ""},
		{"en", "2 pm", "14:00", "14:00"},
		{"en", "2pm", "14:00", "14:00"},
		{"en", "9 a.m.", "09:00", "09:00"},
		{"en", "12 am", "00:00", "00:00"},
		{"en", "12 pm", "12:00", "12:00"},
		{"en", "2:30", "02:30|14:30", "14:30"},
		{"en", "2.30 pm", "14:30", "14:30"},
		{"en", "at 3", "03:00|15:00", "15:00"},
		{"en", "half past two", "02:30|14:30", "14:30"},
		{"en", "quarter to five", "04:45|16:45", "16:45"},
		{"en", "at 9 in the morning", "09:00", "09:00"},
		{"en", "Good morning, at 3", "03:00|15:00", "15:00"},
		{"en", "3 o'clock", "03:00|15:00", "15:00"},
		{"en", "noon", "12:00", "12:00"},
		{"en", "14:00-14:30", "~14:00 ~14:30", "~14:00 ~14:30"},
	} {
		if got := told(readerOf(t, test.lang, test.text, Spec{}).times); got != test.bare {
			t.Errorf("%s %q: %q, want %q", test.lang, test.text, got, test.bare)
		}
		hours := Spec{Hours: Hours{From: "07:00", Until: "19:00"}}
		if got := told(readerOf(t, test.lang, test.text, hours).times); got != test.within {
			t.Errorf("%s %q from 7 to 19: %q, want %q", test.lang, test.text, got, test.within)
		}
	}
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ written, german, english string }{
		{"12", "12", "12"},
		{"12,5", "12.5", "12.5"},
		{"12.5", "12.5", "12.5"},
		{"1.234", "1234|1.234", "1.234"},
		{"1,234", "1.234", "1234|1.234"},
		{"0.125", "0.125", "0.125"},
		{"1.234,5", "1234.5", "1234.5"},
		{"1,234.50", "1234.5", "1234.5"},
		{"1.234.567", "1234567", "1234567"},
		{"1.234.56", "", ""},
		{"1.23,4", "", ""},
		{"1234.567", "1234.567", "1234.567"},
		{"007", "7", "7"},
		{"0,0", "0", "0"},
		{strings.Repeat("9", 50), "", ""},
	} {
		if got := strings.Join(decimals(test.written, ","), "|"); got != test.german {
			t.Errorf("%s in German: %q, want %q", test.written, got, test.german)
		}
		if got := strings.Join(decimals(test.written, "."), "|"); got != test.english {
			t.Errorf("%s in English: %q, want %q", test.written, got, test.english)
		}
	}
}

func TestNumbersWithUnits(t *testing.T) {
	t.Parallel()
	schema := `{"properties":{"n":{"type":"number"}}}`
	for _, test := range []struct{ text, want string }{
		{"178 cm", "1.78"},
		{"178cm", "1.78"},
		{"1,78 m", "1.78"},
		{"die 10-cm-Binde", "0.1"},
		{"zwei m", "2"},
		{"10 m/s", ""},
		{"10 cm2", "0.1"},
		{"2 bis 3 m", "~3"},
	} {
		f, err := Compile(Spec{Rules: []Rule{{Path: "n", Find: KindNumber, Units: []Unit{{Word: "cm", Factor: "0.01"}, {Word: "m"}}}}}, []byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		r := f.read(test.text, f.languageOf("de"), monday)
		if got := told(r.findNumbers(f.rules[0].units)); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ lang, text, want string }{
		{"de", "für Frau Müller", "Müller"},
		{"de", "Herrn Prof. Dr. Klaus von Berg am Mittwoch", "Klaus von Berg"},
		{"de", "Frau Müller-Lüdenscheidt kommt", "Müller-Lüdenscheidt"},
		{"de", "für Hans Meier am Montag", "Hans Meier"},
		{"de", "für Montag Vormittag", ""},
		{"de", "für Meier, Hans einen Termin", "Hans Meier"},
		{"de", "Sehr geehrte Frau Dr. Weber,", ""},
		{"de", "Liebe Frau Weber,\nich bin Eva Blum", "Eva Blum"},
		{"de", "mein Name ist Ole", "Ole"},
		{"de", "meine Mutter Helga Hansen", "Helga Hansen"},
		{"de", "für Frau Mu\u0308ller", "Müller"},
		{"en", "for Jane Doe on Monday", "Jane Doe"},
		{"en", "John Carter's appointment", "John Carter"},
		{"en", "Dear Mr. Smith, for Mrs O'Hara", "O'Hara"},
		{"en", "This is urgent", ""},
		{"en", "cancel Mary's appointment on Monday's list", "Mary"},
		{"de", "Jonas Frey braucht einen Termin", "Jonas Frey"},
	} {
		r := readerOf(t, test.lang, nfc(test.text), Spec{})
		if got := told(r.findNames([]string{"fuer", "for"}, 2)); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.lang, test.text, got, test.want)
		}
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ lang, text, want string }{
		{"de", "Bitte absagen.\n\nMit freundlichen Grüßen\nEva Blum", "Eva Blum"},
		{"de", "Bitte absagen. LG Eva", "Eva"},
		{"de", "Bitte absagen. Eva Blum", "Eva Blum"},
		{"de", "Bitte absagen.\nViele Grüße\nIhr Praxisteam", ""},
		{"de", "Viele Grüße\nEva Blum\nTel. 030 1234567", "Eva Blum"},
		{"de", "Danke für alles", ""},
		{"en", "Please cancel.\nBest regards,\nTom Baker", "Tom Baker"},
		{"en", "Please cancel, thanks Tom Baker", "Tom Baker"},
		{"en", "Tom Baker", ""},
	} {
		got := ""
		if f, ok := readerOf(t, test.lang, test.text, Spec{}).signature(); ok {
			got = f.readings[0]
		}
		if got != test.want {
			t.Errorf("%s %q: %q, want %q", test.lang, test.text, got, test.want)
		}
	}
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ lang, text, want string }{
		{"de", "Was ist 3,5 mal 4?", "3.5*4"},
		{"de", "12 geteilt durch 4", "12/4"},
		{"de", "(3 + 4) × 2,5", "(3+4)*2.5"},
		{"de", "2 hoch 3 minus 1", "2^3-1"},
		{"de", "zwei plus drei", "2+3"},
		{"de", "1.234 * 2", ""},
		{"de", "nur 5", ""},
		{"de", "(3 + 4", "3+4"},
		{"en", "15 divided by 4", "15/4"},
		{"en", "1,234.5 + 2", "1234.5+2"},
		{"en", "3 -", ""},
	} {
		if got := told(readerOf(t, test.lang, test.text, Spec{}).findExpressions()); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.lang, test.text, got, test.want)
		}
	}
}

func TestPhonesAndEmails(t *testing.T) {
	t.Parallel()
	r := readerOf(t, "de", "Tel. 030 / 123-45 67, mobil +49 (171) 2345678, geb. 12.03.1958, 10969 Berlin", Spec{})
	if got := told(r.findPhones()); got != "0301234567 +491712345678" {
		t.Error(got)
	}
	f, err := Compile(Spec{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.findEmails("an eva.blum@web.de, <x@y.org>. Nicht @ oder a@b")); got != "[eva.blum@web.de x@y.org]" {
		t.Error(got)
	}
}

// TestLanguages: every word of a language stands in it as it is compared.
func TestLanguages(t *testing.T) {
	t.Parallel()
	known, err := languages()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Compile(Spec{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(known) < 2 {
		t.Fatalf("%d languages", len(known))
	}
	for _, l := range known {
		if len(l.Months) != 12 || len(l.Weekdays) != 7 || l.Decimal == "" {
			t.Errorf("%s: %d months, %d weekdays, decimal %q", l.Tag, len(l.Months), len(l.Weekdays), l.Decimal)
		}
		for _, words := range append(append([][]string{l.Fillers, l.Bounds, l.Negations, l.NotNames, l.Titles, l.Closings, l.VagueDays, l.Next, l.Relations, l.HourBefore, l.Joiners}, l.Months...), l.Weekdays...) {
			for _, word := range words {
				if folded := f.fold(word); folded != word {
					t.Errorf("%s: %q is compared as %q", l.Tag, word, folded)
				}
			}
		}
	}
}
