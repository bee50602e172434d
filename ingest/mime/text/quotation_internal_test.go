package text

import "testing"

func TestSplitText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, fresh, quoted string }{
		"nothing quoted":   {"a\nb", "a\nb", ""},
		"below":            {"Yes.\n\nOn 5 Jan 2026, Max wrote:\n> Really?\n> Sure?", "Yes.", "On 5 Jan 2026, Max wrote:\n> Really?\n> Sure?"},
		"unmarked below":   {"Yes.\n\nOn 5 Jan 2026, Max wrote:\n\nReally?", "Yes.", "On 5 Jan 2026, Max wrote:\n\nReally?"},
		"between":          {"On 5 Jan 2026, Max wrote:\n> A?\nyes\n> B?\nno", "yes\nno", "On 5 Jan 2026, Max wrote:\n> A?\n> B?"},
		"german":           {"Ja.\n\nAm 05.01.2026 um 09:00 schrieb Max Muster:\n> Wirklich?", "Ja.", "Am 05.01.2026 um 09:00 schrieb Max Muster:\n> Wirklich?"},
		"german other way": {"Ja.\nMax Muster <a@b.c> schrieb am Mo., 5. Jan. 2026, 09:00:\n> Wirklich?", "Ja.", "Max Muster <a@b.c> schrieb am Mo., 5. Jan. 2026, 09:00:\n> Wirklich?"},
		"german third":     {"Ja.\nAm 5.1.2026 hat Max geschrieben:\n> W?", "Ja.", "Am 5.1.2026 hat Max geschrieben:\n> W?"},
		"separator":        {"Ja.\n-----Ursprüngliche Nachricht-----\nalt", "Ja.", "-----Ursprüngliche Nachricht-----\nalt"},
		"english separator": {
			"Yes.\n________________________________\nFrom: Max\nSent: today\nTo: Eva\nSubject: x\n\nold",
			"Yes.", "________________________________\nFrom: Max\nSent: today\nTo: Eva\nSubject: x\n\nold",
		},
		"copied header":           {"Ja.\n*Von:* Max\n*Gesendet:* heute\n*An:* Eva\n\nalt", "Ja.", "*Von:* Max\n*Gesendet:* heute\n*An:* Eva\n\nalt"},
		"a person's From":         {"From: the start I liked it.\nThen less.", "From: the start I liked it.\nThen less.", ""},
		"a person's wrote":        {"On Monday he wrote:\nI will come.", "On Monday he wrote:\nI will come.", ""},
		"a forward is new":        {"see below\n---------- Forwarded message ---------\nFrom: Max\nhello", "see below\n---------- Forwarded message ---------\nFrom: Max\nhello", ""},
		"only a quotation is new": {"> all of it\n> is quoted", "> all of it\n> is quoted", ""},
		"marked without words":    {"> A?\nyes", "yes", "> A?"},
	}
	for name, test := range tests {
		fresh, quoted, _ := DefaultLanguages().Split(test.text, Purpose{Reply: true})
		if fresh != test.fresh || quoted != test.quoted {
			t.Errorf("%s: got %q and %q", name, fresh, quoted)
		}
	}
}

func TestHTMLToText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ page, visible, hidden string }{
		"paragraphs":       {"<p class=x>a</p><p>b</p>", "a\n\nb", ""},
		"lines":            {"<div>a</div><div>b<br>c</div>", "a\nb\nc", ""},
		"empty line":       {"<div>a</div><div><br></div><div>b</div>", "a\n\nb", ""},
		"entities":         {"a &lt; b &amp; &uuml; &#8364; &nbsp; x &bogus;", "a < b & ü € x &bogus;", ""},
		"bare signs":       {"1 < 2 and 3 > 2", "1 < 2 and 3 > 2", ""},
		"comment":          {"a<!-- <p>x > y -->b", "ab", ""},
		"open comment":     {"a<!-- b", "a", ""},
		"script":           {"a<script>if (a < b) '</p>'</script>b<style>p{}</style>", "ab", ""},
		"open script":      {"a<script>b", "a", ""},
		"head":             {"<head><title>t</title></head><body>a", "a", ""},
		"open head":        {"<head><title>t<body>a", "a", ""},
		"list":             {"<ul><li>a<li>b</ul>c", "- a\n- b\nc", ""},
		"table":            {"<table><tr><td>a<td>b</tr><tr><td>c</table>", "a b\nc", ""},
		"link":             {`<a href="https://x.y/?a=1&amp;b">here</a>`, "here <https://x.y/?a=1&b>", ""},
		"link in words":    {`<a href="https://x.y">https://x.y</a>`, "https://x.y", ""},
		"script link":      {`<a href="javascript:x">here</a>`, "here", ""},
		"quotation":        {"a<blockquote>b<blockquote>c</blockquote>d</blockquote>e", "a\n> b\n>> c\n> d\ne", ""},
		"pre":              {"<pre>a\nb</pre>", "a\nb", ""},
		"open quote":       {`<a href="x>a</a>b`, "ab", ""},
		"open, to the end": {"<p title='it>Dear Ana, the meeting", "Dear Ana, the meeting", ""},
		"a heart":          {"I </3 you, all of you", "I </3 you, all of you", ""},
		"script in script": {"a<script><!--<script></script>b", "ab", ""},
		"display":          {`a<div style="DISPLAY : NONE">b<div>c</div></div>d`, "ad", "b\nc"},
		"entity in style":  {`a<span style="display&#58;none">b</span>`, "a", "b"},
		"visibility":       {`<span style='visibility:hidden'>b</span>a`, "a", "b"},
		"tiny":             {`a<font style="font-size:0px">b</font><span style="font-size:1px;">c</span>`, "a", "bc"},
		"small but seen":   {`<span style="font-size:0.8em">a</span>`, "a", ""},
		"transparent":      {`a<span style="opacity:0">b</span>`, "a", "b"},
		"off the page":     {`a<div style="position:absolute;left:-9999px">b</div>`, "a", "b"},
		"no height":        {`a<div style="max-height:0;overflow:hidden">b</div>`, "a", "b"},
		"outlook":          {`a<p style="mso-hide:all">b</p>`, "a", "b"},
		"attribute":        {`a<div hidden>b</div>`, "a", "b"},
		"white on white":   {`a<span style="color:#FFF">b</span><font color=white>c</font>`, "a", "bc"},
		"white on blue":    {`<td style="background:#00f"><span style="color:#fff">a</span></td><span style="color:#fff">b</span>`, "a", "b"},
		"same colors":      {`a<span style="color:#123;background-color:#123">b</span>`, "a", "b"},
		"hidden in p":      {`<p style="display:none">a<p>b`, "b", "a"},
		"void hidden":      {`<img style="display:none">a`, "a", ""},
	}
	for name, test := range tests {
		visible, hidden := htmlToText(test.page)
		if visible != test.visible || hidden != test.hidden {
			t.Errorf("%s: got %q and %q", name, visible, hidden)
		}
	}
}
