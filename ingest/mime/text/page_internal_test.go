package text

import (
	"strings"
	"testing"
)

// shows compares what a reader sees of pages.
func shows(t *testing.T, tests map[string][2]string) {
	t.Helper()
	for name, test := range tests {
		visible, hidden := htmlToText(test[0])
		if visible != test[1] || hidden != "" {
			t.Errorf("%s: got %q, want %q, hidden %q", name, visible, test[1], hidden)
		}
	}
}

// TestRaisedAndLoweredNumbersStayApart: no number that is raised or lowered joins the
// digits around it.
func TestRaisedAndLoweredNumbersStayApart(t *testing.T) {
	t.Parallel()
	shows(t, map[string][2]string{
		"power":             {"4 * 10<sup>2</sup>", "4 * 10^2"},
		"negative":          {"6 * 10<sup>-3</sup> mol", "6 * 10^-3 mol"},
		"minus sign":        {"10<sup>−3</sup>", "10^−3"},
		"digit behind":      {"10<sup>2</sup>5", "10^2 5"},
		"unit behind":       {"10<sup>3</sup>kg", "10^3 kg"},
		"blank behind":      {"10<sup>2</sup> * 2", "10^2 * 2"},
		"sum":               {"2<sup>n+1</sup>", "2^(n+1)"},
		"number and letter": {"10<sup>2n</sup>", "10^(2n)"},
		"letter":            {"2<sup>n</sup>m", "2^n m"},
		"brackets before":   {"(1+2)<sup>2</sup>", "(1+2)^2"},
		"power of a power":  {"2<sup>3<sup>2</sup></sup>", "2^3^2"},
		"unit":              {"40 m<sup>2</sup>", "40 m^2"},
		"index":             {"x<sub>1</sub>2", "x_1 2"},
		"index alone":       {"x<sub>1</sub> + x<sub>2</sub>", "x1 + x2"},
		"base":              {"101<sub>2</sub>", "101_2"},
		"logarithm":         {"log<sub>2</sub>8", "log_2 8"},
		"water":             {"H<sub>2</sub>O and CO<sub>2</sub>", "H2O and CO2"},
		"ion":               {"SO<sub>4</sub><sup>2-</sup>", "SO4^2-"},
		"ordinals": {
			"the 5<sup>th</sup> of the 1<sup>st</sup>, N<sup>o</sup> 4, 2<sup>e</sup>, M<sup>me</sup>",
			"the 5th of the 1st, No 4, 2e, Mme",
		},
		"trade mark":             {"Seal<sup>®</sup> 20<sup>°</sup>", "Seal® 20°"},
		"fraction":               {"1<sup>3</sup>/<sub>4</sub> inch", "1 3/4 inch"},
		"fraction alone":         {"<sup>3</sup>/<sub>4</sub>", "3/4"},
		"power over something":   {"10<sup>2</sup>/5", "10^2/5"},
		"note in brackets":       {"150<sup>[1]</sup> * 2", "150 [1] * 2"},
		"note as a link":         {`150<sup><a href="#fn1">1</a></sup> * 2`, "150 [1] * 2"},
		"note inside a link":     {`150<a href="#fn1"><sup>1</sup></a>2`, "150 [1] 2"},
		"note behind a sentence": {"It costs 5.<sup>1</sup>", "It costs 5. [1]"},
		"note at the beginning":  {"<sup>1</sup>5 seals", "1 5 seals"},
		"isotope":                {"<sup>14</sup>C", "14C"},
		"vertical-align":         {`10<span style="vertical-align:super">3</span>`, "10^3"},
		"vertical-align by size": {
			`10<span style="vertical-align: 4px">3</span> 10<i style="vertical-align:-30%">2</i>`,
			"10^3 10_2",
		},
		"vertical-align, sheet": {
			`<style>.up{vertical-align:super} em{vertical-align:sub}</style>10<b class=up>3</b> 10<em>2</em>`,
			"10^3 10_2",
		},
		"baseline":           {`10<span style="vertical-align:baseline">3</span>`, "103"},
		"middle of a cell":   {`<table><tr><td style="vertical-align:super">10</td><td>3</td></tr></table>`, "10 3"},
		"relative position":  {`10<span style="position:relative;top:-0.4em">3</span>`, "10^3"},
		"reset of the sheet": {`10<sup style="vertical-align:baseline;position:relative;top:-.5em">3</sup>`, "10^3"},
		"quoted":             {"<blockquote>10<sup>2</sup></blockquote>", "> 10^2"},
		"end of the line":    {"<p>10<sup>2</sup></p><p>5</p>", "10^2\n\n5"},
		"never closed":       {"<p>10<sup>2<p>5", "10^2\n\n5"},
		"struck out":         {"10<sup><s>2</s></sup> 3", "10~~^2~~ 3"},
		"bold inside":        {"10<sup><b>2</b></sup>5", "10^2 5"},
	})
	long := strings.Repeat("1", maxScript+1)
	if visible, _ := htmlToText("10<sup>" + long + "</sup>2"); visible != "10^"+long+" 2" {
		t.Errorf("a long one became %q", visible)
	}
}

// TestStruckOutWordsAreMarked: what a writer has taken back can be told from what holds.
func TestStruckOutWordsAreMarked(t *testing.T) {
	t.Parallel()
	shows(t, map[string][2]string{
		"s":                   {"send <s>2</s> 3 seals", "send ~~2~~ 3 seals"},
		"strike":              {"<strike>2</strike> 3", "~~2~~ 3"},
		"del":                 {"<del>north</del> south", "~~north~~ south"},
		"style":               {`<span style="text-decoration: line-through">Monday</span> Tuesday`, "~~Monday~~ Tuesday"},
		"with underline":      {`<span style="text-decoration: underline line-through red">a</span> b`, "~~a~~ b"},
		"the longhand":        {`<span style="text-decoration-line: line-through">a</span> b`, "~~a~~ b"},
		"class":               {`<style>.gone{text-decoration:line-through}</style><b class=gone>a</b> b`, "~~a~~ b"},
		"element of a sheet":  {`<style>em{text-decoration:line-through}</style><em>a</em> b`, "~~a~~ b"},
		"sheet undoes it":     {`<style>s{text-decoration:none}</style><s>a</s> b`, "a b"},
		"underlined":          {`<span style="text-decoration:underline">a</span> b`, "a b"},
		"ins beside del":      {"<del>old</del><ins>new</ins>", "~~old~~ new"},
		"del beside ins":      {"<ins>new</ins><del>old</del>", "new ~~old~~"},
		"inside a word":       {"3<s>5</s>0", "3~~5~~0"},
		"one inside another":  {"<s>a <del>b</del> c</s> d", "~~a b c~~ d"},
		"several lines":       {"<s>a<br>b</s> c", "~~a~~\n~~b~~ c"},
		"several paragraphs":  {"<s><p>a</p><p>b</p></s>c", "~~a~~\n\n~~b~~\n\nc"},
		"a paragraph":         {`<p style="text-decoration:line-through">a<p>b`, "~~a~~\n\nb"},
		"a cell":              {`<table><tr><td style="text-decoration:line-through">a<td>b</table>`, "~~a~~ b"},
		"an item":             {`<ul><li style="text-decoration:line-through">a<li>b</ul>`, "- ~~a~~\n- b"},
		"wrongly nested":      {"<b><s>a</b> b</s> c", "~~a b~~ c"},
		"quoted":              {"<blockquote><s>2</s> 3</blockquote>", "> ~~2~~ 3"},
		"in a link":           {`<s><a href="https://x.example">a</a></s> b`, "~~a <https://x.example>~~ b"},
		"empty":               {"a<s></s> b", "a b"},
		"blanks around":       {"a<s> 2 </s>b", "a ~~2~~ b"},
		"never closed at all": {"a <s>b", "a ~~b~~"},
	})
}

// TestPageThatSaysMoreThanItsPlainText: the plain text of a mail gives way to the page
// where it has lost which words are struck out, or which numbers are raised.
func TestPageThatSaysMoreThanItsPlainText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string][3]string{
		"struck out":              {"Send 2 3 seals", "Send <s>2</s> 3 seals", "Send ~~2~~ 3 seals"},
		"struck out in both":      {"Send ~~2~~ three seals", "Send <s>2</s> 3 seals", "Send ~~2~~ three seals"},
		"raised":                  {"4 * 102", "4 * 10<sup>2</sup>", "4 * 10^2"},
		"raised in both":          {"four * 10²", "4 * 10<sup>2</sup>", "four * 10²"},
		"raised letters":          {"the 5th, plain", "the 5<sup>th</sup>", "the 5th, plain"},
		"nothing of it":           {"plain", "<b>page</b>", "plain"},
		"nothing of it, but bold": {"*plain*", "<b>page</b>", "*plain*"},
	} {
		segments := []Segment{{Alternative: 1, Plain: []string{test[0]}, HTML: []string{test[1]}}}
		if text, _ := DefaultLanguages().Join(segments); text != test[2] {
			t.Errorf("%s: got %q, want %q", name, text, test[2])
		}
	}
}

// TestListsKeepTheirNumbers: items have the numbers that a reader sees, and inner lists
// are indented.
func TestListsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	const three = "<li>a</li><li>b</li><li>c</li>"
	shows(t, map[string][2]string{
		"numbers": {"<ol>" + three + "</ol>", "1. a\n2. b\n3. c"},
		"start and value": {
			`<ol start="3"><li>a</li><li>b</li><li value="9">c</li><li>d</li></ol>`,
			"3. a\n4. b\n9. c\n10. d",
		},
		"small letters":    {"<ol type=a>" + three + "</ol>", "a. a\nb. b\nc. c"},
		"large letters":    {"<ol type=A start=26><li>a<li>b</ol>", "Z. a\nAA. b"},
		"small roman":      {"<ol type=i>" + three + "</ol>", "i. a\nii. b\niii. c"},
		"large roman":      {"<ol type=I start=1999><li>a</ol>", "MCMXCIX. a"},
		"roman too large":  {"<ol type=i start=4000><li>a</ol>", "4000. a"},
		"letter of zero":   {"<ol type=a start=0><li>a<li>b</ol>", "0. a\na. b"},
		"style":            {`<ol style="list-style-type: lower-alpha">` + three + "</ol>", "a. a\nb. b\nc. c"},
		"style in short":   {`<ol style="list-style: upper-roman inside">` + three + "</ol>", "I. a\nII. b\nIII. c"},
		"style of a sheet": {"<style>ol{list-style-type:lower-roman}</style><ol>" + three + "</ol>", "i. a\nii. b\niii. c"},
		"leading zero":     {`<ol style="list-style-type:decimal-leading-zero"><li>a</ol>`, "01. a"},
		"no numbers":       {`<ol style="list-style:none"><li>a</ol>`, "- a"},
		"numbered ul":      {`<ul style="list-style-type:decimal"><li>a<li>b</ul>`, "1. a\n2. b"},
		"type of an item":  {"<ol><li>a<li type=a>b</ol>", "1. a\nb. b"},
		"reversed":         {"<ol reversed>" + three + "</ol>", "3. a\n2. b\n1. c"},
		"reversed, inner":  {"<ol reversed><li>a<ol><li>x<li>y</ol><li>b</ol>", "2. a\n  1. x\n  2. y\n1. b"},
		"reversed, start":  {"<ol reversed start=10>" + three + "</ol>", "10. a\n9. b\n8. c"},
		"negative":         {"<ol start=-1>" + three + "</ol>", "-1. a\n0. b\n1. c"},
		"no number":        {`<ol start="x"><li value="y">a</ol>`, "1. a"},
		"too large":        {`<ol start="99999999999999999999"><li>a</ol>`, "1. a"},
		"inner list":       {"<ul><li>tools<ul><li>wrench</li></ul></li><li>oil</li></ul>", "- tools\n  - wrench\n- oil"},
		"three levels":     {"<ol><li>a<ol type=a><li>b<ul><li>c</ul></ol><li>d</ol>", "1. a\n  a. b\n    - c\n2. d"},
		"without an item":  {"<li>a<li>b", "- a\n- b"},
		"paragraph inside": {"<ol><li><p>a</p></li><li><div>b</div></li></ol>", "1. a\n\n2. b"},
		"empty item":       {"<ol><li>a</li><li></li><li>c</li></ol>", "1. a\n2.\n3. c"},
		"list alone":       {"<ol><li><ul><li>a</ul></ol>", "1.\n  - a"},
		"quoted":           {"<blockquote><ol start=4><li>a</ol></blockquote>", "> 4. a"},
		"of Word":          {`<p class=MsoListParagraph><span>3.<span>&nbsp;&nbsp; </span></span>a</p>`, "3. a"},
		"menu":             {"<menu><li>a</menu>", "- a"},
	})
	visible, hidden := htmlToText(`<ol><li>a<li style="display:none">b</li><li>c</ol>`)
	if visible != "1. a\n2. c" || !strings.Contains(hidden, "b") {
		t.Errorf("an item that is not shown counts: %q, %q", visible, hidden)
	}
}

// TestLinksKeepTheirAddresses: addresses and numbers behind words are written, as pages are.
func TestLinksKeepTheirAddresses(t *testing.T) {
	t.Parallel()
	shows(t, map[string][2]string{
		"mailto": {`<a href="mailto:olga@works.example">Olga</a>`, "Olga <olga@works.example>"},
		"with a subject": {
			`<a href="mailto:olga@works.example?subject=Seals&amp;body=x">Olga</a>`,
			"Olga <olga@works.example>",
		},
		"in capitals":      {`<a href="MailTo:olga@works.example">Olga</a>`, "Olga <olga@works.example>"},
		"encoded":          {`<a href="mailto:olga%2Bseals@works.example">Olga</a>`, "Olga <olga+seals@works.example>"},
		"two":              {`<a href="mailto:a@b.example,c@d.example">both</a>`, "both <a@b.example,c@d.example>"},
		"only a subject":   {`<a href="mailto:?subject=x">Forward</a>`, "Forward"},
		"the words say it": {`<a href="mailto:olga@works.example">Olga@works.example</a>`, "Olga@works.example"},
		"another address": {
			`<a href="mailto:eve@evil.example">olga@works.example</a>`,
			"olga@works.example <eve@evil.example>",
		},
		"tel":                   {`<a href="tel:+49301112223">the gate</a>`, "the gate <+49301112223>"},
		"tel with an extension": {`<a href="tel:+49301112223;ext=4">the gate</a>`, "the gate <+49301112223>"},
		"the number is said":    {`<a href="tel:+49301112223">+49 (30) 111-2223</a>`, "+49 (30) 111-2223"},
		"the number of at home": {`<a href="tel:+49301112223">030 1112223</a>`, "030 1112223"},
		"another number":        {`<a href="tel:+49301112223">030 999999</a>`, "030 999999 <+49301112223>"},
		"sms":                   {`<a href="sms:+49301112223?body=x">text us</a>`, "text us <+49301112223>"},
		"callto":                {`<a href="callto:olga.works">call</a>`, "call <olga.works>"},
		"callto is said":        {`<a href="callto:olga.works">olga.works</a>`, "olga.works"},
		"page":                  {`<a href="https://works.example/plan">here</a>`, "here <https://works.example/plan>"},
		"script":                {`<a href="javascript:alert(1)">here</a>`, "here"},
		"place of the page":     {`<a href="#x">here</a>`, "here"},
		"angle brackets":        {`<a href="mailto:%3Ca@b.example%3E">A</a>`, "A <a@b.example>"},
		"no percent encoding":   {`<a href="mailto:a%zz@b.example">A</a>`, "A <a%zz@b.example>"},
		"picture": {
			`See <img src="cid:p" alt="Photo of the broken seal">.`,
			"See [Photo of the broken seal].",
		},
		"picture without words":  {`See <img src="cid:p" alt=""> it`, "See it"},
		"picture that is a sign": {`Well done <img alt="🎉">`, "Well done 🎉"},
		"picture that is a link": {`<a href="https://x.example"><img alt="Plan"></a>`, "[Plan] <https://x.example>"},
		"picture that is struck": {`<s><img alt="Plan"></s>`, "~~[Plan]~~"},
		"button":                 {`<input type=image alt="Send"><input type=text alt="no">`, "[Send]"},
	})
	for _, page := range []string{
		`a<img alt="b" width=1 height=1>`, `a<img alt="b" style="display:none">`,
		`<style>.x{width:0}</style>a<img class=x alt="b">`,
	} {
		if visible, hidden := htmlToText(page); visible != "a" || hidden != "" {
			t.Errorf("%s: got %q and %q", page, visible, hidden)
		}
	}
}

// TestIndentationStays: lines whose blanks a page shows stay as they are.
func TestIndentationStays(t *testing.T) {
	t.Parallel()
	const code = "for x in a:\n    if x:\n\tn += 1\n  print(n)"
	shows(t, map[string][2]string{
		"pre":                {"a<pre>" + code + "</pre>b", "a\n" + code + "\nb"},
		"first line":         {"<pre>\n  a\n    b\n</pre>", "  a\n    b"},
		"textarea":           {"a<textarea rows=2>\n" + code + "</textarea>b", "a\n" + code + "\nb"},
		"tags in a textarea": {"<textarea><b>\n  x</textarea>y", "<b>\n  x\ny"},
		"textarea, open":     {"a<textarea>b\n  c", "a\nb\n  c"},
		"code inside":        {"<pre><code><span>a</span>\n  <tt>b</tt></code></pre>", "a\n  b"},
		"listing":            {"<listing>a\n  b</listing>", "a\n  b"},
		"pre-wrap":           {`<p style="white-space:pre-wrap">key:` + "\n  inner: 1</p>", "key:\n  inner: 1"},
		"pre of a span":      {`a <span style="white-space: pre">b` + "\n  c</span> d", "a b\n  c d"},
		"break-spaces":       {`<p style="white-space:break-spaces">a` + "\n  b</p>", "a\n  b"},
		"pre-line":           {`<p style="white-space:pre-line">a  b` + "\n  c</p>", "a b\nc"},
		"class":              {"<style>.code{white-space:pre}</style><div class=code>a\n  b</div>", "a\n  b"},
		"element of a sheet": {"<style>code{white-space:pre}</style><code>a\n  b</code>", "a\n  b"},
		"normal inside": {
			`<pre>a` + "\n  b" + `<span style="white-space:normal">c` + "\n  d</span></pre>",
			"a\n  bc d",
		},
		"pre that is normal":  {`<pre style="white-space:normal">a` + "\n  b</pre>", "a b"},
		"figures":             {"<pre>seal    12\ngasket   3</pre>", "seal    12\ngasket   3"},
		"hard blanks":         {"<pre>a\n&nbsp;&nbsp;b</pre>", "a\n  b"},
		"quoted":              {"<blockquote><pre>a:\n  b</pre></blockquote>", "> a:\n>   b"},
		"line ends of a mail": {"<pre>a\r\n  b\r\n</pre>", "a\n  b"},
		"empty line":          {"<pre>a\n\n  b</pre>", "a\n\n  b"},
		"item":                {"<ul><li><pre>\na\n  b</pre></ul>", "- a\n  b"},
		"pasted into Gmail": {
			"<div>def f():</div><div>&nbsp; &nbsp; return 1</div><div>&nbsp; &nbsp; &nbsp; &nbsp; # deep</div>",
			"def f():\n    return 1\n        # deep",
		},
		"pasted into Outlook": {
			"<p class=MsoNormal>a:<br>&nbsp;&nbsp;&nbsp; <span>b</span><br>\n<span>&nbsp;&nbsp; </span>c<br>\n &nbsp;&nbsp;d &nbsp; e",
			"a:\n    b\n   c\n  d e",
		},
		"as an entity by number": {"<div>a</div><div>&#160;&#xA0;b</div>", "a\n  b"},
		"first line, hard":       {"<div>&nbsp; a</div><div>&nbsp;&nbsp; b</div>", "  a\n   b"},
		"hard and quoted":        {"<blockquote>a<br>&nbsp; b</blockquote>", "> a\n>   b"},
		"one hard blank":         {"<div>a</div><div>&nbsp;b</div><div>&nbsp;</div><div>c</div>", "a\nb\n\nc"},
		"hard in an item":        {"<ul><li>&nbsp; a<li>b</ul>", "- a\n- b"},
		"hard in empty cells":    {"<table><tr><td>&nbsp;&nbsp;<td>&nbsp;<td>a</table>", "a"},
		"hard line alone":        {"<div>a</div><div>&nbsp; &nbsp;</div><div>b</div>", "a\n\nb"},
		"behind it":              {"<pre>a</pre>  b\n  c", "a\nb c"},
	})
	for _, text := range []string{"  a:\n    b", "a:\n    b\n\n  c"} {
		segments := []Segment{{Plain: []string{"\n" + text + "\n"}}}
		joined, _ := DefaultLanguages().Join(segments)
		if fresh, _, _ := DefaultLanguages().Split(joined, Purpose{}); fresh != text {
			t.Errorf("%q became %q", text, fresh)
		}
	}
}

// TestPagesAreReadOnce: pages made to be slow are read in time that grows with their size.
func TestPagesAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"<ol reversed>", "<ol reversed><li>", "<ol reversed></ol>", "<s>", "<s><p>", "1<sup>2", "<sup>1</sup>",
		"<sup>1</sup>/<sub>2</sub>", "<li>",
		"<ul><li>", "<textarea>", "<textarea></textarea>", "<pre>\n  ", "<a href=tel:1>2",
		`<a href="mailto:a@b.c">x</a>`, `<img alt="a">`, "</s>", "<del>a</del><ins>b</ins>",
		`<p style="white-space:pre">  `, "<table><tr><td><s>",
	} {
		page := strings.Repeat(unit, (256<<10)/len(unit))
		c := htmlReader{page: page, lookAhead: maxLookAhead}
		for c.position < len(c.page) {
			c.step()
		}
		if visible := c.visible.finishText(); len(visible) > 8*len(page) {
			t.Errorf("%s: %d bytes became %d", unit, len(page), len(visible))
		}
		if len(c.open) > maxOpen || c.lookAhead < 0 {
			t.Errorf("%s: %d elements are remembered, and %d bytes may be read twice", unit, len(c.open), c.lookAhead)
		}
	}
}
