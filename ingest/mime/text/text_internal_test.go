package text

import (
	"strings"
	"testing"
)

// TestQuotations_I19 splits the answers of the programs that people use, in three
// languages. Nothing of a text is lost.
func TestQuotations_I19(t *testing.T) {
	t.Parallel()
	const below = "\n> Is it open?\n>\n> Ana"
	tests := map[string]struct{ fresh, quoted string }{
		"Gmail, English":               {"Yes.", "On Mon, Jan 5, 2026 at 9:00 AM Ana <ana@example.org> wrote:" + below},
		"Gmail, English, wrapped":      {"Yes.", "On Mon, Jan 5, 2026 at 9:00 AM Ana Maria von und zu Example <\nana.maria@example.org> wrote:" + below},
		"Gmail, German":                {"Ja.", "Am Mo., 5. Jan. 2026 um 09:00 Uhr schrieb Ana <ana@example.org>:" + below},
		"Gmail, German, wrapped":       {"Ja.", "Am Mo., 5. Jan. 2026 um 09:00 Uhr schrieb Ana Maria Example <\nana@example.org>:" + below},
		"Gmail, French":                {"Oui.", "Le lun. 5 janv. 2026 à 09:00, Ana <ana@example.org> a écrit :" + below},
		"Gmail, French, thin space":    {"Oui.", "Le lun. 5 janv. 2026 à 09:00, Ana <ana@example.org> a écrit\u202f:" + below},
		"Gmail, French, wrapped":       {"Oui.", "Le lun. 5 janv. 2026 à 09:00, Ana Maria Example <ana@example.org> a\nécrit :" + below},
		"Apple, English":               {"Yes.", "On 5. Jan 2026, at 09:00, Ana <ana@example.org> wrote:" + below},
		"Apple, German":                {"Ja.", "Am 05.01.2026 um 09:00 schrieb Ana <ana@example.org>:" + below},
		"Apple, French":                {"Oui.", "Le 5 janv. 2026 à 09:00, Ana <ana@example.org> a écrit :" + below},
		"Thunderbird, English":         {"Yes.", "On 1/5/26 09:00, Ana wrote:" + below},
		"Thunderbird, German":          {"Ja.", "Am 05.01.26 um 09:00 schrieb Ana:" + below},
		"Thunderbird, French":          {"Oui.", "Le 05/01/2026 à 09:00, Ana a écrit :" + below},
		"web.de":                       {"Ja.", "Gesendet: Montag, 5. Januar 2026 um 09:00 Uhr\nVon: \"Ana\" <ana@example.org>\nAn: office@example.org\nBetreff: Frage\n\nIst offen?"},
		"Outlook, English":             {"Yes.", "-----Original Message-----\nFrom: Ana\nSent: Monday\nTo: Office\nSubject: x\n\nIs it open?"},
		"Outlook, English, no line":    {"Yes.", "From: Ana <ana@example.org>\nSent: Monday, January 5, 2026 9:00 AM\nTo: Office <o@example.org>\nSubject: x\n\nIs it open?"},
		"Outlook, English, bold":       {"Yes.", "*From:* Ana\n*Sent:* Monday\n*To:* Office\n*Subject:* x\n\nIs it open?"},
		"Outlook, German":              {"Ja.", "-----Ursprüngliche Nachricht-----\nVon: Ana\nGesendet: Montag\nAn: Office\nBetreff: x\n\nOffen?"},
		"Outlook, German, no line":     {"Ja.", "Von: Ana <ana@example.org>\nGesendet: Montag, 5. Januar 2026 09:00\nAn: Office\nBetreff: x\n\nOffen?"},
		"Outlook, French":              {"Oui.", "-----Message d'origine-----\nDe : Ana\nEnvoyé : lundi\nÀ : Office\nObjet : x\n\nOuvert ?"},
		"Outlook, French, typographic": {"Oui.", "-----Message d’origine-----\nDe\u00a0: Ana\nEnvoyé\u00a0: lundi\nÀ\u00a0: Office\nObjet\u00a0: x\n\nOuvert ?"},
		"Outlook, French, no line":     {"Oui.", "De : Ana <ana@example.org>\nEnvoyé : lundi 5 janvier 2026 09:00\nÀ : Office\nObjet : x\n\nOuvert ?"},
		"Outlook on the web":           {"Yes.", "________________________________\nFrom: Ana\nSent: Monday\nTo: Office\nSubject: x\n\nIs it open?"},
		"Outlook for iOS":              {"Yes.", "________________________________\nVon: Ana\nGesendet: Montag\nAn: Office\nBetreff: x\n\nOffen?"},
	}
	for name, test := range tests {
		fresh, quoted, _ := DefaultLanguages().Split(test.fresh+"\n\n"+test.quoted, Purpose{Reply: true})
		if fresh != test.fresh || quoted != test.quoted {
			t.Errorf("%s: got %q and %q", name, fresh, quoted)
		}
	}
	for _, whole := range []string{
		"Le 5 janvier, elle a écrit :\nbonjour", "De : Paris à Lyon, 2 heures.\nÀ bientôt", "On 5 May she wrote: yes.", "Von: hier nach dort",
	} {
		if fresh, quoted, _ := DefaultLanguages().Split(whole, Purpose{Reply: true}); strings.HasPrefix(whole, "Le") != (quoted != "" || fresh == whole) && quoted != "" {
			t.Errorf("%q was split into %q and %q", whole, fresh, quoted)
		}
	}
}

// TestHTMLReplies_I19: what a page quotes is set apart like what a text quotes.
func TestHTMLReplies_I19(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"Gmail":       `<div dir="ltr">Yes.</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Mon, Jan 5, 2026 at 9:00 AM Ana &lt;<a href="mailto:a@b.c">a@b.c</a>&gt; wrote:<br></div><blockquote class="gmail_quote">Is it open?</blockquote></div>`,
		"Outlook":     `<div class=WordSection1><p class=MsoNormal>Yes.<o:p></o:p></p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p class=MsoNormal><b>Von:</b> Ana &lt;a@b.c&gt; <br><b>Gesendet:</b> Montag, 5. Januar 2026 09:00<br><b>An:</b> Office<br><b>Betreff:</b> Frage</p></div><p class=MsoNormal>Is it open?</p></div>`,
		"Outlook web": `<div>Yes.</div><hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg" dir="ltr"><font><b>De :</b> Ana &lt;a@b.c&gt;<br><b>Envoyé :</b> lundi 5 janvier 2026<br><b>À :</b> Office<br><b>Objet :</b> Question</font></div><div>Is it open?</div>`,
		"Apple":       `<html><body>Yes.<div><br><blockquote type="cite"><div>On 5. Jan 2026, at 09:00, Ana &lt;a@b.c&gt; wrote:</div><br><div>Is it open?</div></blockquote></div></body></html>`,
		"Thunderbird": `<p>Yes.</p><div class="moz-cite-prefix">Am 05.01.26 um 09:00 schrieb Ana:<br></div><blockquote type="cite" cite="mid:1@x"><p>Is it open?</p></blockquote>`,
	} {
		visible, hidden := htmlToText(page)
		fresh, quoted, _ := DefaultLanguages().Split(visible, Purpose{Reply: true})
		if fresh != "Yes." || !strings.HasSuffix(quoted, "Is it open?") || hidden != "" {
			t.Errorf("%s: got %q and %q, hidden %q", name, fresh, quoted, hidden)
		}
	}
}

// TestStubs_I19: a text that only says that there is a page gives way to the
// page; one that says more stays.
func TestStubs_I19(t *testing.T) {
	t.Parallel()
	const page = "<p>What it says"
	for plain, want := range map[string]string{
		"": "What it says", " \n\u00a0\n": "What it says",
		"Your program does not support HTML.":                      "What it says",
		"View this email in your browser: https://x.y":             "What it says",
		"Ihr Programm unterstützt kein HTML.":                      "What it says",
		"Afficher cet e-mail dans votre navigateur":                "What it says",
		"Please call me.":                                          "Please call me.",
		strings.Repeat("Please call me. ", 40) + "no html-capable": strings.TrimSpace(strings.Repeat("Please call me. ", 40) + "no html-capable"),
	} {
		segments := []Segment{{Alternative: 1, Plain: []string{plain}, HTML: []string{page}}}
		if text, _ := DefaultLanguages().Join(segments); text != want {
			t.Errorf("%q: got %q", plain, text)
		}
	}
}

// TestMobileSignatures_I19: what a program adds is set apart, what a person
// writes is not.
func TestMobileSignatures_I19(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"Sent from my iPhone", "Sent from my Galaxy", "Get Outlook for iOS", "Get Outlook for Android <https://aka.ms/x>", "Sent with Proton Mail secure email.",
		"Von meinem iPhone gesendet", "Gesendet von meinem Mobiltelefon", "Gesendet mit der GMX Mail App", "Gesendet von Mail für Windows",
		"Envoyé de mon iPhone", "Envoyé à partir de Outlook pour iOS", "Télécharger Outlook pour Android",
	} {
		if words, signature := DefaultLanguages().splitSignature([]string{"Yes.", "", line}, nil); words != "Yes." || signature != line {
			t.Errorf("%q: got %q and %q", line, words, signature)
		}
	}
	for _, text := range []string{
		"Sent from my iPhone", "Yes.\nSent from my desk", "Hello.\n\nVon meinem Arzt habe ich noch nichts gehört.", "Yes.\n\nAna\n+49 30 1234",
		"Yes.\n\nSent from my office, which is " + strings.Repeat("far ", 30), "",
	} {
		if words, signature := DefaultLanguages().splitSignature(strings.Split(text, "\n"), nil); words != strings.TrimSpace(text) || signature != "" {
			t.Errorf("%q was split into %q and %q", text, words, signature)
		}
	}
}

// TestSignatureIsBounded_I19: what is long is no signature, whatever stands above.
func TestSignatureIsBounded_I19(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		below string
		is    bool
	}{
		"a name": {"Ana", true}, "25 lines": {strings.Repeat("x\n", 25), true}, "26 lines": {strings.Repeat("x\n", 26), false},
		"4 KiB": {strings.Repeat("x", 4<<10), true}, "more": {strings.Repeat("x", 4<<10+1), false}, "nothing": {"", false},
	} {
		text, _, signature := DefaultLanguages().Split("Yes.\n-- \n"+test.below, Purpose{})
		if (signature != "") != test.is || (text == "Yes.") != test.is {
			t.Errorf("%s: %d bytes of text, %d of signature", name, len(text), len(signature))
		}
	}
}

// TestHiddenText_I19 sets apart what a reader does not see.
func TestHiddenText_I19(t *testing.T) {
	t.Parallel()
	const page = `a<style>.h{display:none} #i , p.j {color:#fff; /* x */ font-size:0} .o .h2{display:none} .b>.c{display:none}
		@media (max-width:480px){.m{display:none}.n{display:none}} .k{color:red}</style>`
	tests := map[string]struct{ element, hidden string }{
		"display":             {`<p style="display:none">x</p>`, "x"},
		"display, important":  {`<p style="display: none !important">x</p>`, "x"},
		"visibility":          {`<p style="visibility:hidden">x</p>`, "x"},
		"opacity":             {`<p style="opacity:0.01">x</p>`, "x"},
		"opacity seen":        {`<p style="opacity:0.5">x</p>`, ""},
		"no size":             {`<p style="font-size:0px">x</p>`, "x"},
		"off screen, right":   {`<p style="position:absolute;right:-9999px">x</p>`, "x"},
		"off screen, indent":  {`<p style="text-indent:-9999px">x</p>`, "x"},
		"off screen, above":   {`<p style="position:fixed;top:-1000em">x</p>`, "x"},
		"clipped":             {`<p style="clip:rect(0 0 0 0)">x</p>`, "x"},
		"scaled away":         {`<p style="transform:scale(0)">x</p>`, "x"},
		"attribute":           {`<p hidden>x</p>`, "x"},
		"nearly white":        {`<p style="color:#fdfdfd">x</p>`, "x"},
		"white in numbers":    {`<p style="color:rgb(254, 254, 254)">x</p>`, "x"},
		"gray":                {`<p style="color:#eee">x</p>`, ""},
		"white on its own":    {`<p style="color:white;background:#000">x</p>`, ""},
		"class":               {`<p class="h">x</p>`, "x"},
		"one class of two":    {`<p class="k H">x</p>`, "x"},
		"id":                  {`<p id=i>x</p>`, "x"},
		"element and class":   {`<p class=j>x</p>`, "x"},
		"harmless class":      {`<p class=k>x</p>`, ""},
		"class inside a rule": {`<p class=h2>x</p>`, ""},
		"child of a class":    {`<p class=c>x</p>`, ""},
		"narrow screens":      {`<p class="m n">x</p>`, ""},
		"the element says":    {`<p class=h style="display:block">x</p>`, ""},
	}
	for name, test := range tests {
		visible, hidden := htmlToText(page + test.element + "z")
		if hidden != test.hidden || strings.Contains(visible, "x") == (hidden != "") || !strings.HasPrefix(visible, "a") || !strings.HasSuffix(visible, "z") {
			t.Errorf("%s: got %q and %q", name, visible, hidden)
		}
	}
}

// TestStyleSheetsAreLinear_I19: sheets made to be slow are not.
func TestStyleSheetsAreLinear_I19(t *testing.T) {
	t.Parallel()
	for _, css := range []string{"/**/", "@{", ".a{", ".a,", "{}", "<style>", ".a{b:c}", "}"} {
		page := "<style>" + strings.Repeat(css, 100_000) + "</style><p class=a>x"
		if visible, hidden := htmlToText(page); strings.Contains(visible+hidden, "style") {
			t.Errorf("%q: the sheet became text", css)
		}
	}
}
