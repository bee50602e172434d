package text

import (
	"fmt"
	"strings"
	"testing"
)

// splitsInto splits texts and compares what is new, quoted and added.
func splitsInto(t *testing.T, about Purpose, tests map[string][4]string) {
	t.Helper()
	for name, test := range tests {
		fresh, quoted, signature := DefaultLanguages().Split(test[0], about)
		if fresh != test[1] || quoted != test[2] || signature != test[3] {
			t.Errorf("%s: got %q, %q and %q", name, fresh, quoted, signature)
		}
	}
}

// TestSentencesOfAPersonStay: a sentence with a date that ends in "wrote:" stays in text,
// with what stands below, in a mail that answers nothing and where it is no line of a program.
func TestSentencesOfAPersonStay(t *testing.T) {
	t.Parallel()
	const below = "\n\nthe seal is worn.\n\nPlease send one by Friday."
	for _, line := range []string{
		"here is what the inspector of 3 Nov 2026 wrote:",
		"This is what our fitter noted in the book of 2026 and Olga wrote:",
		"On 3 November 2026 the inspector wrote:", "In his report of 12 May 2026, on page 4, the man from the works wrote:",
		"le 3 novembre 2026 le contrôleur a écrit :", "Le 3 novembre 2026 à 10:30 le contrôleur a écrit :",
		"Am 3. November 2026 um 9 Uhr hat der Prüfer geschrieben:", "Am 3.11.2026 schrieb der Prüfer:",
		"El 3 de noviembre de 2026 el inspector escribió:", "Il 3 novembre 2026 il tecnico ha scritto:",
		"Op 3 november 2026 schreef de inspecteur:", "Den 3 november 2026 skrev kontrollanten:",
		"Den 3. november 2026 skrev kontrolløren:",
		"Em 3 de novembro de 2026, o técnico escreveu:", "W dniu 3.11.2026 kontroler napisał:",
		"Наш мастер в журнале за 2026 год пишет:",
		"Tarkastaja kävi täällä taas 3.11.2026 ja kirjoitti:",
		"Yesterday at 9 the very kind Olga from the works by the river <olga@works.example> wrote:",
		"On 3 November 2026 I wrote:",
	} {
		for _, about := range []Purpose{{}, {Reply: true}} {
			whole := "Good morning,\n\n" + line + below
			if fresh, quoted, _ := DefaultLanguages().Split(whole, about); fresh != whole || quoted != "" {
				t.Errorf("%+v: %q was cut: %q and %q", about, line, fresh, quoted)
			}
		}
	}
	for _, line := range []string{
		"On 3 November 2026, Olga wrote:", "Le 3 novembre 2026, Olga a écrit :", "Am 03.11.2026 um 09:00 schrieb Olga:",
		"On Tue, Nov 3, 2026 at 9:00 AM Olga <olga@works.example> wrote:", "On 11/3/26 9:00 AM, Olga Maria Orme wrote:",
	} {
		whole := "Good morning,\n\n" + line + below
		if fresh, quoted, _ := DefaultLanguages().Split(whole, Purpose{}); fresh != whole || quoted != "" {
			t.Errorf("a mail that answers nothing: %q was cut: %q and %q", line, fresh, quoted)
		}
		fresh, quoted, _ := DefaultLanguages().Split(whole, Purpose{Reply: true})
		if fresh != "Good morning," || quoted == "" {
			t.Errorf("an answer: %q was not cut: %q and %q", line, fresh, quoted)
		}
		marked := "Good morning,\n\n" + line + "\n> the seal is worn.\n\nPlease send one."
		fresh, quoted, _ = DefaultLanguages().Split(marked, Purpose{})
		if fresh != "Good morning,\n\nPlease send one." || quoted == "" {
			t.Errorf("a marked quotation below %q was not cut: %q and %q", line, fresh, quoted)
		}
	}
}

// TestSentencesAboveTheAttributionStay: a sentence that ends in "wrote:" is its author's, with what stands below, where
// a line that shows more of a program introduces the quotation, below or above.
func TestSentencesAboveTheAttributionStay(t *testing.T) {
	t.Parallel()
	const below = "\n\nThe seal is worn.\n\nPlease order one."
	for _, line := range []string{
		"For the record, at 10:30 Tom wrote:", "On 4 Jan 2026 Tom Smith wrote:", "On 4 January 2026, Tom wrote:",
		"At 10:30 Tom wrote:", "Am 4.1.2026 schrieb Tom Schmidt:", "Le 4 janvier 2026, Tom a écrit :",
		"Tom Smith wrote on 4 Jan 2026:", "El 4 de enero de 2026, Tom escribió:",
	} {
		for _, quotation := range []string{
			"On Mon, Jan 5, 2026 at 1:09 PM Desk <desk@example.net> wrote:\n> Which?",
			"On Mon, Jan 5, 2026 at 1:09 PM Desk <desk@example.net> wrote:\n\nWhich?",
			"On 5 Jan 2026, at 13:09, Desk wrote:\n> Which?",
			"Desk <desk@example.net> writes:\n> Which?",
			"-----Original Message-----\nFrom: Desk\nSent: today\nTo: Ana\nSubject: x\n\nWhich?",
			"From: Desk <desk@example.net>\nSent: today\nTo: Ana\nSubject: x\n\nWhich?",
		} {
			own := "The answers are below.\n\n" + line + below
			fresh, quoted, _ := DefaultLanguages().Split(own+"\n\n"+quotation, Purpose{Reply: true})
			if fresh != own || quoted != quotation {
				t.Errorf("%q above %q: got %q and %q", line, quotation, fresh, quoted)
			}
		}
		const above = "On Mon, Jan 5, 2026 at 1:09 PM Desk <desk@example.net> wrote:\n> Which?"
		own := "The blue one.\n\n" + line + below
		fresh, quoted, _ := DefaultLanguages().Split(above+"\n\n"+own, Purpose{Reply: true})
		if fresh != own || quoted != above {
			t.Errorf("%q below the quotation: got %q and %q", line, fresh, quoted)
		}
	}
	const own = "Please call me at 10:30.\n\nTom (from the gate, 4 Jan 2026) wrote:\n\nseal is worn\n\nPlease order."
	if fresh, quoted, _ := DefaultLanguages().Split(own, Purpose{Reply: true}); fresh != own {
		t.Errorf("a sentence with a date in brackets was cut: %q and %q", fresh, quoted)
	}
	splitsInto(t, Purpose{Reply: true}, map[string][4]string{
		"a quotation in another": {
			"Yes.\n\nOn 5 Jan 2026 at 9:00 Ana <a@b.c> wrote:\n\nIs it?\n\nOn 4 Jan 2026 at 9:00 Ben <b@b.c> wrote:\n> Open?",
			"Yes.", "On 5 Jan 2026 at 9:00 Ana <a@b.c> wrote:\n\nIs it?\n\nOn 4 Jan 2026 at 9:00 Ben <b@b.c> wrote:\n> Open?", "",
		},
		"two by the same program": {
			"Yes.\n\nOn 5 Jan 2026 at 9:00 Ana wrote:\n\nIs it?\n\nOn 4 Jan 2026 at 9:00 Ben wrote:\n> Open?", "Yes.",
			"On 5 Jan 2026 at 9:00 Ana wrote:\n\nIs it?\n\nOn 4 Jan 2026 at 9:00 Ben wrote:\n> Open?", "",
		},
	})
}

// TestAttributionsWrappedBeforeTheBracket: every attribution of every language is known
// when it is wrapped before the bracket behind the address, and without blanks around it.
func TestAttributionsWrappedBeforeTheBracket(t *testing.T) {
	t.Parallel()
	languages, err := readBuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for tag, read := range languages {
		for i := range read.attributions {
			line := fill(&read.attributions[i])
			open, end := strings.Index(line, "<"), strings.Index(line, ">")
			if open < 0 || end < open {
				continue
			}
			tried++
			for kind, attribution := range map[string]string{
				"wrapped":        line[:end] + "\n" + line[end:],
				"wrapped before": line[:open+1] + "\n" + line[open+1:],
				"no blank":       line[:end+1] + strings.TrimLeft(line[end+1:], " "),
			} {
				text := "Yes.\n\n" + attribution + "\n\n> Is it open?"
				fresh, quoted, _ := DefaultLanguages().Split(text, Purpose{Reply: true})
				if fresh != "Yes." || !strings.HasSuffix(quoted, "> Is it open?") {
					t.Errorf("%s, %s: %q: got %q and %q", tag, kind, attribution, fresh, quoted)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d attributions were tried", tried)
	}
}

// fill writes a line by a template.
func fill(t *template) string {
	var line strings.Builder
	line.WriteString(t.first)
	for i, kind := range t.slots {
		line.WriteString(map[slot]string{
			slotDate: "05.01.2026", slotTime: "09:00", slotName: "Ana Lind",
			slotAddress: "ana.maria.lind@example.org", slotAny: "",
		}[kind])
		if kind == slotName && !t.has(slotAddress) {
			line.WriteString(" <ana.maria.lind@example.org>")
		}
		if i < len(t.between) {
			line.WriteString(t.between[i])
		}
	}
	return line.String() + t.last
}

// TestAttributionsOfAnyLanguage: a date, an address in brackets and a colon at the end are an attribution in languages
// that have no file, also above a quotation that is not marked; and no sentence of a person is one.
func TestAttributionsOfAnyLanguage(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"pon, 5. sij 2026. u 13:09 Ana Lind <ana@example.org> napisao je:",
		"pirmd., 2026. g. 5. janv., plkst. 13:09 — lietotājs Ana Lind (<ana@example.org>) rakstīja:",
		"Kuupäeval E, 5. jaanuar 2026 kell 13:09 kirjutas Ana Lind <ana@example.org>:",
		"2026-01-05, pr, 13:09 Ana Lind <ana@example.org> rašė:",
		"ในวันที่ จ. 5 ม.ค. 2569 เวลา 13:09 Ana Lind <ana@example.org> เขียนว่า:",
		"सोम, 5 जन॰ 2026 को 1:09 pm बजे को Ana Lind <ana@example.org> ने लिखा:",
		"در تاریخ دوشنبه ۵ ژانویهٔ ۲۰۲۶ ساعت ۱۳:۰۹ \u202aAna Lind\u202c \u200f<\u202aana@example.org\u202c\u200f> نوشت:",
		"На пн, 5.01.2026 г. в 13:09 Ana Lind <ana@example.org> написа:",
		"пон, 5. јан 2026. у 13:09 Ana Lind <ana@example.org> је написао/ла:",
		"mán., 5. jan. 2026 klukkan 13:09 skrifaði Ana Lind <ana@example.org>:",
		"Ana Lind (ana@example.org) scríobh 5 Ean 2026 13:09:",
		"Ana Lind <ana@example.org> shkroi më 05/01/26 13.09:",
		"Ara., 2026(e)ko urt. 5(a) 13:09 Ana Lind<ana@example.org>igorleak idatzi du:",
		"pon, 5. sij 2026. u 13:09 Ana Lind iz ureda za narudžbe\n<ana.lind@example.org> napisao je:",
	} {
		for _, quotation := range []string{"\n> Is it open?", "\n\n> Is it open?", "\n\nIs it open?"} {
			fresh, quoted, _ := DefaultLanguages().Split("Yes.\n\n"+line+quotation, Purpose{Reply: true})
			if fresh != "Yes." || letterCount(quoted) != letterCount(line+quotation) {
				t.Errorf("%q above %q: got %q and %q", line, quotation, fresh, quoted)
			}
		}
		whole := "Yes.\n\n" + line + "\n\nIs it open?"
		if fresh, _, _ := DefaultLanguages().Split(whole, Purpose{}); fresh != whole {
			t.Errorf("a mail that answers nothing: %q was cut: %q", line, fresh)
		}
	}
	for _, line := range []string{
		"Termin am 5. Januar 2026 um 10:30 Uhr mit Ana Lind <ana@example.org>:",
		"Please meet Ana Lind <ana@example.org> on 5 Jan 2026 at 10:30 about this:",
		"On 5 Jan 2026 at 10:30 please ask Ana Lind <ana@example.org> about:",
		"Rendez-vous le 5 janvier 2026 à 10:30 avec Ana Lind <ana@example.org> pour:",
		"Order of 5 Jan 2026, 10:30, by Ana Lind <ana@example.org>, paid for by Ben Orme <ben@example.org>:",
		"Schůzka, o které jsme spolu mluvili včera, je 5. 1. 2026 v 10:30, volejte Ana Lind <ana@example.org>:",
		"Kontakt Ana Lind <ana@example.org>:", "5. 1. 2026, 10:30 Ana Lind:",
		"Sastanak 5. 1. 2026. u 10:30.\nAna Lind <ana@example.org>:",
	} {
		for _, quotation := range []string{"\n- the seal\n- the pump", "\n\n> Is it open?\n\nFour."} {
			fresh, _, _ := DefaultLanguages().Split("Yes.\n\n"+line+quotation, Purpose{Reply: true})
			if !strings.Contains(fresh, line) {
				t.Errorf("%q above %q was cut: %q", line, quotation, fresh)
			}
		}
	}
}

// TestAttributionsAsProgramsWriteThem covers lines that share their place with others.
func TestAttributionsAsProgramsWriteThem(t *testing.T) {
	t.Parallel()
	const on = "On Mon, Jan 5, 2026 at 8:59 AM, Ana Lind <ana@example.org> wrote:"
	const below = "\n> Is it open?"
	splitsInto(t, Purpose{Reply: true}, map[string][4]string{
		"no blank": {
			"Yes.\n\nOn Mon, Jan 5, 2026 at 8:59 AM, Ana Lind\n<ana@example.org>wrote:" + below,
			"Yes.",
			"On Mon, Jan 5, 2026 at 8:59 AM, Ana Lind\n<ana@example.org>wrote:" + below,
			"",
		},
		"no blank on both sides": {
			"Yes.\n\nAna Lind<ana@example.org>wrote:" + below,
			"Yes.",
			"Ana Lind<ana@example.org>wrote:" + below,
			"",
		},
		"quoted name": {
			"Ja.\n\n\"Ana Lind\"<ana@example.org>schrieb:" + below,
			"Ja.",
			"\"Ana Lind\"<ana@example.org>schrieb:" + below,
			"",
		},
		"behind dashes": {"The blue one--- " + on + below, "The blue one", "--- " + on + below, ""},
		"behind two lines": {
			"The second one,\nthe blue one--- " + on + below,
			"The second one,\nthe blue one",
			"--- " + on + below,
			"",
		},
		"behind a long dash":     {"The blue one — " + on + below, "The blue one", "— " + on + below, ""},
		"behind a sentence":      {"The blue one. " + on + below, "The blue one.", on + below, ""},
		"behind words":           {"The blue one " + on + below, "The blue one", on + below, ""},
		"behind words, unmarked": {"The blue one " + on + "\n\nIs it open?", "The blue one", on + "\n\nIs it open?", ""},
		"behind words, wrapped": {
			"The blue one--- On Mon, Jan 5, 2026 at 8:59 AM, Ana Lind\n<ana@example.org> wrote:" + below, "The blue one",
			"--- On Mon, Jan 5, 2026 at 8:59 AM, Ana Lind\n<ana@example.org> wrote:" + below, "",
		},
		"German": {
			"Die blaue.--- Am 05.01.2026 um 09:00 schrieb Ana Lind:" + below,
			"Die blaue.",
			"--- Am 05.01.2026 um 09:00 schrieb Ana Lind:" + below,
			"",
		},
		"French": {
			"La bleue. Le lun. 5 janv. 2026 à 09:00, Ana <ana@example.org> a écrit :" + below,
			"La bleue.",
			"Le lun. 5 janv. 2026 à 09:00, Ana <ana@example.org> a écrit :" + below,
			"",
		},
		"Norwegian": {
			"Den blå.--- man. 5. jan. 2026 kl. 09:00 skrev Ana <ana@example.org>:" + below, "Den blå.",
			"--- man. 5. jan. 2026 kl. 09:00 skrev Ana <ana@example.org>:" + below, "",
		},
		"a name with the word": {
			"Yes.\n\nOn Mon, Jan 5, 2026 at 8:59 AM, Ana On Holiday <ana@example.org> wrote:" + below, "Yes.",
			"On Mon, Jan 5, 2026 at 8:59 AM, Ana On Holiday <ana@example.org> wrote:" + below, "",
		},
		"between dashes": {
			"Yes.\n\n---- On Mon, 05 Jan 2026 09:00:00 +0100 Ana <ana@example.org> wrote ----\n\nIs it open?",
			"Yes.",
			"---- On Mon, 05 Jan 2026 09:00:00 +0100 Ana <ana@example.org> wrote ----\n\nIs it open?",
			"",
		},
	})
}

// TestSeparatorsOfPrograms: what programs write between dashes above a quotation, and
// headers that they copy as rows of a table or with other names of fields.
func TestSeparatorsOfPrograms(t *testing.T) {
	t.Parallel()
	for name, quotation := range map[string]string{
		"NetEase": "---- Replied Message ----\n| From | Ana<ana@example.org> |\n| Date | 11/02/2026 08:00 |\n" +
			"| To | <ben@example.net> |\n| Subject | Seals |\nHow many?",
		"NetEase, no rule": "| From | Ana<ana@example.org> |\n| Date | 11/02/2026 08:00 |\n| To | <ben@example.net> |\n" +
			"| Subject | Seals |\nHow many?",
		"NetEase, colons": "| From: | Ana<ana@example.org> |\n| Date: | 11/02/2026 |\n| Subject: | Seals |\nHow many?",
		"NetEase, Chinese": "---- 回复的原邮件 ----\n| 发件人 | Ana<ana@example.org> |\n| 日期 | 2026年11月02日 08:00 |\n" +
			"| 收件人 | <ben@example.net> |\n| 主题 | Seals |\nHow many?",
		"QQ": "------------------ Original ------------------\nFrom: \"Ana\"<ana@example.org>;\n" +
			"Date: Mon, Nov 2, 2026 08:00 AM\nTo: \"Ben\"<ben@example.net>;\nSubject: Seals\n\nHow many?",
		"QQ, escaped": "------------------&nbsp;Original&nbsp;------------------\nFrom: &nbsp;\"Ana\";<ana@example.org&gt;;\n" +
			"Date: &nbsp;Mon, Nov 2, 2026 08:00 AM\nTo: &nbsp;\"Ben\"<ben@example.net&gt;;\n\nSubject: &nbsp;Seals\n\nHow many?",
		"QQ, Chinese, escaped": "------------------&nbsp;原始邮件&nbsp;------------------\n发件人:     \"Ana\"   <ana@example.org&gt;;\n" +
			"发送时间:&nbsp;2026年11月2日(星期一) 上午8:00\n收件人:&nbsp;\"Ben\"<ben@example.net&gt;;\n\n主题:&nbsp;Seals\n\nHow many?",
		"QQ, numbered": "------------------&#160;Original&#160;------------------\nFrom:&#160;\"Ana\"<ana@example.org>;\n" +
			"Date:&#160;Mon, Nov 2, 2026 08:00 AM\nSubject:&#160;Seals\n\nHow many?",
		"Zoho, German": "---- Am Mo., 05 Jan. 2026 13:09:00 +0100 Ana <ana@example.org> schrieb ----\n\nHow many?",
		"Zoho, French": "---- Le lun., 05 janv. 2026 13:09:00 +0100 Ana <ana@example.org> écrit ----\n\nHow many?",
		"Zoho, Hindi":  "---- सोम, 05 जन॰ 2026 13:09:00 +0530 Ana <ana@example.org> ने लिखा ----\n\nHow many?",
		"short QQ": "--- Original ---\nFrom: \"Ana\"<ana@example.org>\nDate: Mon, Nov 2, 2026 08:00 AM\n" +
			"To: \"Ben\"<ben@example.net>\nSubject: Seals\n\nHow many?",
		"Outlook": "________________________________\nFrom: Ana <ana@example.org>\nSent: Monday, November 2, 2026 8:00 AM\n" +
			"To: Ben\nSubject: Seals\n\nHow many?",
		"Outlook, Estonian": "________________________________\nSaatja: Ana <ana@example.org>\n" +
			"Saadetud: esmaspäev, 2. november 2026 08:00\nAdressaat: Ben <ben@example.net>\nTeema: Seals\n\nHow many?",
		"Outlook, Thai": "________________________________\nจาก: Ana <ana@example.org>\n" +
			"ส่ง: วันจันทร์ที่ 2 พฤศจิกายน 2026 08:00\nถึง: Ben\nเรื่อง: Seals\n\nHow many?",
		"Reply":            "------- Reply -------\nFrom: Ana <ana@example.org>\nTo: Ben\nSubject: Seals\n\nHow many?",
		"without a header": "------- Replied Message -------\nHow many?",
		"sender, receiver": "---------- Replied message ----------\nSender: Ana <ana@example.org>\nDate: November 2 2026 08:00\n" +
			"Subject: RE:Seals\nReceiver: ben@example.net\n\nHow many?",
		"no separator": "Sender: Ana <ana@example.org>\nDate: November 2 2026 08:00\nSubject: RE:Seals\n" +
			"Receiver: ben@example.net\n\nHow many?",
		"German": "-----Antwort-----\nAbsender: Ana <ana@example.org>\nEmpfänger: Ben\nBetreff: Dichtung\n\nWie viele?",
		"French webmail": "========================================\n\nMessage du : 05/01/2026 13:20\n" +
			"De : \"Ana\" <ana@example.org>\nA : ben@example.net\nCopie à : \nSujet : Joint\n\nCombien ?",
		"without the colon": "Message du 05/01/2026 13:20\nDe : \"Ana\" <ana@example.org>\nA : ben@example.net\nObjet : Joint\n\n" +
			"Combien ?",
	} {
		fresh, quoted, _ := DefaultLanguages().Split("Four.\n\n"+quotation, Purpose{Reply: true})
		if fresh != "Four." || letterCount(quoted) != letterCount(quotation) {
			t.Errorf("%s: got %q and %q", name, fresh, quoted)
		}
		fresh, quoted, _ = DefaultLanguages().Split(quotation, Purpose{Reply: true})
		if letterCount(fresh) != letterCount(quotation) || quoted != "" {
			t.Errorf("%s, with nothing else: got %q and %q", name, fresh, quoted)
		}
		if !beginsRule(quotation) || strings.HasPrefix(quotation, "====") {
			continue
		}
		fresh, quoted, _ = DefaultLanguages().Split("Four, in\nblue."+quotation, Purpose{Reply: true})
		if fresh != "Four, in\nblue." || letterCount(quoted) != letterCount(quotation) {
			t.Errorf("%s, behind words: got %q and %q", name, fresh, quoted)
		}
	}
	for _, own := range []string{
		"--- Original ---\nthe seal is worn\n--- Corrected ---\nthe seal is torn", "== Reply ==\nWe need four.",
		"~~Original~~\nFour.",
		"________________________________\nKontakt: Ana <ana@example.org>\nTermin: 5.1.2026 10:30\nOrt: Halle 3\nDanke",
		"__________\nKontakt: Ana <ana@example.org>\nTermin: 5.1.2026 10:30\nOrt: Halle 3\nPreis: 17\nDanke",
		"Name: ______________\nFrom: Berlin\nThanks", "Name: ______________", "Compare: --- Original ---\nthe seal is worn", "a -- b -- c --\nFour.",
		"The message -- original message --\nis here, or ------\nnot.",
		"| From | To |\n| Berlin | Rome |\n| Rome | Paris |", "**Original**\nFour.",
	} {
		if fresh, quoted, _ := DefaultLanguages().Split(own, Purpose{}); fresh != own || quoted != "" {
			t.Errorf("%q was cut: %q and %q", own, fresh, quoted)
		}
	}
}

// TestArrowsAndWraps: arrows of the writer are no marks of a quotation, and the end of a
// marked line that was wrapped belongs to it.
func TestArrowsAndWraps(t *testing.T) {
	t.Parallel()
	long := "> Would you please tell us how many of the seals you are going to need"
	splitsInto(t, Purpose{Reply: true}, map[string][4]string{
		"arrows": {"Now:\n>>> Order here <<<\nThanks.", "Now:\n>>> Order here <<<\nThanks.", "", ""},
		"arrows twice": {
			"Now:\n>>> >>> https://x.example <<< <<<\nThanks.",
			"Now:\n>>> >>> https://x.example <<< <<<\nThanks.",
			"",
			"",
		},
		"two arrows":       {">> here <<\nThanks.", ">> here <<\nThanks.", "", ""},
		"several lines":    {"Now:\n>>>\nOrder here\n<<<\nThanks.", "Now:\n>>>\nOrder here\n<<<\nThanks.", "", ""},
		"no arrows behind": {"Yes.\n>> Order here\n>> now", "Yes.", ">> Order here\n>> now", ""},
		"below an attribution": {
			"Yes.\n\nOn 5 Jan 2026, at 09:00, Ana wrote:\n>> here <<",
			"Yes.",
			"On 5 Jan 2026, at 09:00, Ana wrote:\n>> here <<",
			"",
		},
		"wrapped":              {long + "\nfor the pump?\n> Ana\n\nFour.", "Four.", long + "\nfor the pump?\n> Ana", ""},
		"answer in between":    {"> How many?\nfour\n> Which?\nblue", "four\nblue", "> How many?\n> Which?", ""},
		"answer to a long one": {long + " now?\nfour\n> Which?\nblue", "four\nblue", long + " now?\n> Which?", ""},
		"answer in capitals":   {long + "\nFour.\n> Which?\nBlue.", "Four.\nBlue.", long + "\n> Which?", ""},
	})
}

// TestSignaturesAndSentences: a sentence that begins as signatures of programs do stays.
func TestSignaturesAndSentences(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"Sent from TypeApp<http://www.example.com/r?b=2621>", "Sent from TypeApp",
		"Sent from Nine <https://www.example.com>", "Sent with Foo<https://foo.example>",
		"Sent from my iPhone. Please excuse typos.",
		"Sent from my iPhone, apologies for brevity and for all of the typos",
		"Sent from my BlackBerry 10 smartphone on the Rogers network.",
		"Sent from my Samsung Galaxy smartphone.", "Sent from my Verizon Wireless 4G LTE smartphone",
		"Sent from my mobile phone", "Sent from Mail for Windows 10",
		"Envoyé depuis mon smartphone Samsung Galaxy.", "Gesendet mit Foo<https://foo.example>",
		"Enviado desde mi iPhone", "Sendt fra min iPhone", "Надіслано з iPhone",
		"Von meinem/meiner Galaxy gesendet", "Gesendet von meinem/meiner Galaxy", "Lähetetty iPhonesta", "Đã gửi từ iPhone của tôi", "Skaff deg Outlook for iOS",
	} {
		words, signature := DefaultLanguages().splitSignature([]string{"Yes.", "", line}, nil)
		if words != "Yes." || signature != line {
			t.Errorf("%q: got %q and %q", line, words, signature)
		}
	}
	for _, line := range []string{
		"Sent from my office it takes two days, from the warehouse only one.", "Sent from my office yesterday.",
		"Sent from my desk, where it has been since May.",
		"Sent from Berlin it arrives on Monday.", "Sent from Yahoo they never arrived, from you they did.",
		"Get Outlook for everybody who works in the office, please",
		"Gesendet von meinem Büro aus dauert es zwei Tage, vom Lager nur einen.",
		"Envoyé de mon bureau il met deux jours, de l'entrepôt un seul.",
		"Enviado desde mi oficina tarda dos días, desde el almacén solo uno.",
		"Skickat från min butik tar det två dagar, från lagret bara en.",
		"Sendt fra min butik tager det to dage, fra lageret kun en.",
		"Von meiner Werkstatt aus wurde gestern alles gesendet, was fehlte.",
		"Надіслано з мого складу вчора, тому чекайте на посилку завтра.",
	} {
		whole := "Yes.\n\n" + line
		words, signature := DefaultLanguages().splitSignature(strings.Split(whole, "\n"), nil)
		if words != whole || signature != "" {
			t.Errorf("%q was cut: %q and %q", line, words, signature)
		}
	}
}

// TestPrefixThatMeansBoth: VS: passes a mail on in Danish and Norwegian, and answers one in
// Finnish; the language of the copied header tells which.
func TestPrefixThatMeansBoth(t *testing.T) {
	t.Parallel()
	const danish = "Se her.\n\nFra: Ane\nSendt: mandag\nTil: Ben\nEmne: x\n\nHej."
	const finnish = "Sopii.\n\nLähettäjä: Aino\nLähetetty: maanantai\nVastaanottaja: Ben\nAihe: x\n\nHei."
	for i, test := range []struct {
		subject, words string
		answers        bool
		want           Purpose
	}{
		{"vs: x", danish, false, Purpose{Forward: true}},
		{"vs: x", danish, true, Purpose{Forward: true, Reply: true}},
		{"vs: x", finnish, true, Purpose{Reply: true}},
		{"vs: x", finnish, false, Purpose{Reply: true}},
		{"vs: x", "Hello.", false, Purpose{Forward: true}},
		{"vs: x", "Hello.", true, Purpose{Reply: true}},
		{"vl: x", finnish, true, Purpose{Forward: true, Reply: true}},
		{"sv: x", danish, false, Purpose{Reply: true}},
		{"x", finnish, false, Purpose{}},
	} {
		if got := DefaultLanguages().PurposeOf(test.subject, test.answers, test.words); got != test.want {
			t.Errorf("%d: %s: %s", i, test.subject, fmt.Sprintf("got %+v, want %+v", got, test.want))
		}
	}
}
