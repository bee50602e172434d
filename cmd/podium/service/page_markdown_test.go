package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"podium/ingest/page/chromium"
	"podium/schemas"
)

// returns is an installation with a chat page whose answers are the messages.
const returns = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
chat: {channels: {web: {profile: desk, token: correct-horse-battery, page: true}}}
agents: {echo: {kind: echo}}
profiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}}
`

// ask sends a text of any kind and returns the number of its answer on the page, once
// that is there.
func (p *person) ask(text string) (number int) {
	p.t.Helper()
	encoded, err := schemas.Marshal(text)
	p.check(err)
	p.check(p.browser.Evaluate(p.ctx, fmt.Sprintf(
		"(document.getElementById('words').value = %s, document.getElementById('composer').requestSubmit())", encoded), nil))
	number = look[int](p, "document.querySelectorAll('article').length") - 1
	p.until(fmt.Sprintf("document.querySelectorAll('article')[%d].querySelector('.answer-words')", number))
	return number
}

// letters are what must not get lost of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, text)
}

// shape is the names of the elements inside an answer, and of links where they lead.
const shape = `[...document.querySelectorAll('article')[%d].querySelectorAll('.answer-words *:not(.spoken)')].map((e) => e.localName + (e.href ? ' ' + e.href : '')).join(', ')`

// shown is what an answer says.
const shown = `(() => {
  const answer = document.querySelectorAll('article')[%d].querySelector('.answer-words').cloneNode(true);
  answer.querySelector('.spoken').remove();
  return answer.textContent;
})()`

// TestChatPageMarkdown sends answers of Markdown and of everything that could become
// more than that: each is shown whole, in elements that do nothing.
func TestChatPageMarkdown(t *testing.T) {
	t.Parallel()
	running := start(t, fmt.Sprintf(returns, t.TempDir()))
	p := newPerson(t, "en")
	p.open(running.Address() + "/chat/web#token=" + accessCode)
	p.until("document.activeElement.id === 'words'")
	const override = "\u202e"
	for _, test := range []struct {
		text  string
		shape string // the elements, "" for one paragraph
		shown string // the text, "" when all its letters are there
	}{
		{text: "one line\n  and another", shown: "one line\n  and another"},
		{text: "# Title\n\nSub\n---\n\n**bold** and *slanted* and ~~gone~~ and `a  b`\n\n***", shape: "h2, h3, p, strong, em, del, code, hr"},
		{text: "- a\n- b\n  - c\n\n3. d\n7. e\n", shape: "ul, li, li, ul, li, ol, li, li", shown: "abcde"},
		{text: "- [x] a\n- [ ] b", shape: "ul, li, li", shown: "[x] a[ ] b"},
		{text: "> quoted\n> > twice", shape: "blockquote, p, blockquote, p"},
		{text: "| a | b |\n|---|--:|\n| c | **d** |", shape: "div, table, thead, tr, th, th, tbody, tr, td, td, strong"},
		{text: "| a | b |\n|---|---|\n| c | d | too much |"},
		{text: "| Task |\n|---|\n| Paid | ❌ |", shown: "| Task |\n|---|\n| Paid | ❌ |"},
		{text: "| a | b |\n|:--|--:|\n| c \\| d | € |", shape: "div, table, thead, tr, th, th, tbody, tr, td, td", shown: "abc | d€"},
		{text: "```js\nlet <b>x</b> = 1; // &amp;\n```", shape: "p, div, pre, code", shown: "jslet <b>x</b> = 1; // &amp;"},
		{text: "```\nnever *closed*", shape: "div, pre, code", shown: "never *closed*"},
		{text: "6*7 = 42 and 5*3 = 15, 2**3**2, (1)*2*(3), ~5 to ~7, a_b_c", shown: "6*7 = 42 and 5*3 = 15, 2**3**2, (1)*2*(3), ~5 to ~7, a_b_c"},
		{text: "1 &lt; 2 &amp;amp; &#60;script&#62; &#0; &#x110000; &unknown; &copy;", shown: "1 < 2 &amp; <script> \ufffd \ufffd &unknown; &copy;"},

		{text: "<script>globalThis.pwned = 1</script>"},
		{text: "<div>\n<img src=x onerror=\"globalThis.pwned = 1\">\n</div>\n\n<!-- a remark -->\n\n<svg/onload=globalThis.pwned=1>", shape: "p, p, p"},
		{text: "<iframe srcdoc=\"<script>parent.pwned = 1</script>\"></iframe> <style>* { display: none }</style> <base href=https://evil.example/>", shape: "p, a https://evil.example/%3E"},
		{text: "</div></article></main><script src=https://evil.example/x.js></script>", shape: "p, a https://evil.example/x.js%3E"},
		{text: "<a href=\"javascript:globalThis.pwned=1\">click *here*</a>", shape: "p, em"},

		{text: "[a](https://example.org/b?c=1&amp;d=2 \"title\")", shape: "p, a https://example.org/b?c=1&d=2, span", shown: "a (example.org)"},
		{text: "[example.org/b](http://example.org/b)", shape: "p, a http://example.org/b", shown: "example.org/b"},
		{text: "[https://bank.example](https://evil.example/)", shape: "p, a https://evil.example/, span", shown: "https://bank.example (evil.example)"},
		{text: "[bank.example](https://bank.example.evil.example/)", shape: "p, a https://bank.example.evil.example/, span", shown: "bank.example (bank.example.evil.example)"},
		{
			text:  "[me@x.com](mailto:me@x.com?bcc=evil@e.com)",
			shape: "p, a mailto:me@x.com?bcc=evil@e.com, span", shown: "me@x.com (me@x.com?bcc=evil@e.com)",
		},
		{text: "[write](mailto:ada@example.org) to ben@example.org.", shape: "p, a mailto:ada@example.org, span, a mailto:ben@example.org", shown: "write (ada@example.org) to ben@example.org."},
		{
			text:  "see https://example.org/a_b_(c), (www.example.org/d). And <https://example.org/e>!",
			shape: "p, a https://example.org/a_b_(c), a http://www.example.org/d, a https://example.org/e", shown: "see https://example.org/a_b_(c), (www.example.org/d). And https://example.org/e!",
		},
		{text: "[https://\u0430pple.example](https://\u0430pple.example/)", shape: "p, a https://xn--pple-43d.example/, span", shown: "https://\u0430pple.example (xn--pple-43d.example)"},
		{text: "![a picture](https://evil.example/pixel.png)", shape: "p, a https://evil.example/pixel.png, span", shown: "a picture (evil.example)"},
		{text: "![](data:image/svg+xml,<svg/onload=globalThis.pwned=1>)"},
		{text: "[![inside](https://evil.example/i.png)](https://example.org/)", shape: "p, a https://example.org/, span", shown: "![inside](https://evil.example/i.png) (example.org)"},
		{text: "[a [b](https://one.example/) c](https://two.example/)", shape: "p, a https://one.example/, span, a https://two.example/", shown: "[a b (one.example) c](https://two.example/)"},
		{text: "[a]: https://example.org/\n\n[b][a]", shape: "p, a https://example.org/, p"},

		{text: "[a](javascript:globalThis.pwned=1) [b](JaVaScRiPt:globalThis.pwned=1) <javascript:globalThis.pwned=1>"},
		{
			text:  "[a](javascript&#58;globalThis.pwned=1) [b](java&#10;script:globalThis.pwned=1) [c](&#1;javascript:globalThis.pwned=1)",
			shown: "[a](javascript:globalThis.pwned=1) [b](java\nscript:globalThis.pwned=1) [c](\x01javascript:globalThis.pwned=1)",
		},
		{text: "[a](data:text/html,<script>globalThis.pwned=1</script>) [b](vbscript:x) [c](file:///etc/passwd) [d](ftp://example.org/) [e](blob:https://example.org/1)"},
		{text: "[a](/v1/runs/x) [b](//evil.example/) [c](../x) [d](#words) [e](?token=x)"},
		{text: "[a](https://bank.example@evil.example/) https://user:word@evil.example/"},
		{text: "[a](https://evil.example/" + override + "gpj.exe) https://evil.example/" + override + "gpj.exe"},
		{
			text: "a" + override + "b [c](https://example.org/)\n\nd [e](https://example.org/f)", shape: "p, a https://example.org/, span, p, a https://example.org/f, span",
			shown: "a" + override + "b c (example.org)d e (example.org)",
		},

		{text: strings.Repeat("word ", 20000)},
		{text: strings.Repeat("*w* ", 2000) + "\n\n" + strings.Repeat("_a__b", 1600), shape: "p, p"},
		{text: strings.Repeat(">", 3000) + " deep", shown: strings.Repeat(">", 3000) + " deep"},
		{text: strings.Repeat("> ", 40) + "deep", shape: strings.Repeat("blockquote, ", 17) + "p"},
		{text: strings.Repeat("[", 20000)},
	} {
		number := p.ask(test.text)
		if test.shape == "" {
			test.shape = "p"
		}
		if got := look[string](p, fmt.Sprintf(shape, number)); got != test.shape {
			t.Errorf("%.80q has the elements %s, want %s", test.text, got, test.shape)
		}
		got := look[string](p, fmt.Sprintf(shown, number))
		if test.shown != "" && got != test.shown || test.shown == "" && letters(got) != letters(test.text) {
			t.Errorf("%.80q is shown as %.200q, want %.200q", test.text, got, test.shown)
		}
		if said := look[string](p, fmt.Sprintf("document.querySelectorAll('article')[%d].querySelector('.said').lastChild.data", number)); said != strings.TrimSpace(test.text) {
			t.Errorf("what was typed as %.80q is shown as %.200q", test.text, said)
		}
	}
	p.harmless(running.Address())
}

// harmless checks that whatever the answers on the page hold does nothing and leads to
// pages and mailboxes alone.
func (p *person) harmless(address string) {
	p.t.Helper()
	elements := look[[]string](p, `[...new Set([...document.querySelectorAll('.answer-words *')].map((e) => e.localName))]`)
	known := strings.Fields("span p h2 h3 h4 h5 h6 strong em del code br hr ul ol li blockquote div pre table thead tbody tr th td a")
	attributes := look[[]string](p, `[...new Set([...document.querySelectorAll('.answer-words *')].flatMap((e) => e.getAttributeNames()))]`)
	allowed := strings.Fields("lang dir class href target rel title tabindex role aria-label scope value")
	for _, name := range elements {
		if !slices.Contains(known, name) {
			p.t.Errorf("an answer has made an element %s", name)
		}
	}
	for _, name := range attributes {
		if !slices.Contains(allowed, name) {
			p.t.Errorf("an answer has made an attribute %s", name)
		}
	}
	for _, link := range look[[][]string](p, `[...document.querySelectorAll('.answer-words a')].map((a) => [a.protocol, a.rel, a.target])`) {
		if !slices.Contains([]string{"http:", "https:", "mailto:"}, link[0]) || link[1] != "noopener noreferrer nofollow" || link[2] != "_blank" {
			p.t.Errorf("a link is %q", link)
		}
	}
	if look[bool](p, "'pwned' in globalThis") || len(p.browser.Events("Page.javascriptDialogOpening")) > 0 {
		p.t.Error("an answer has run")
	}
	if loaded := look[int](p, "performance.getEntriesByType('resource').filter((e) => !e.name.startsWith(location.origin)).length"); loaded > 0 {
		p.t.Errorf("the page has loaded %d things from elsewhere", loaded)
	}
	if found := p.strangers(address); found != nil {
		p.t.Errorf("the page asks %q", found)
	}
	if found := p.complaints(); found != nil {
		p.t.Errorf("the browser complains: %s", strings.Join(found, "\n"))
	}
}

// TestChatPageMarkdownForEverybody: what Markdown becomes has names for screen readers,
// fits a phone, can be told from its ground, and marks of direction end with their block.
func TestChatPageMarkdownForEverybody(t *testing.T) {
	t.Parallel()
	running := start(t, fmt.Sprintf(returns, t.TempDir()))
	p := newPerson(t, "en")
	p.open(running.Address() + "/chat/web#token=" + accessCode)
	p.until("document.activeElement.id === 'words'")
	p.ask("# Stock\n\n- [pumps](https://example.org/pumps)\n\n| part | count |\n|---|---|\n| pump | 3 |\n\n" +
		"```\n" + strings.Repeat("wide", 60) + "\n```\n\n`" + strings.Repeat("inline", 30) + "`\n\n> quoted\n\n|" + strings.Repeat(" column |", 40) + "\n|" + strings.Repeat("-|", 40))
	p.find([]chromium.Node{
		{Role: "log", Name: "Messages", Live: "polite"},
		{Role: "heading", Name: "Stock"},
		{Role: "list"},
		{Role: "listitem"},
		{Role: "link", Name: "pumps"},
		{Role: "group", Name: "Table"},
		{Role: "table"},
		{Role: "columnheader", Name: "count"},
		{Role: "group", Name: "Code"},
		{Role: "blockquote"},
	})
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{320, 1000} {
			p.check(p.browser.Screen(p.ctx, width, 640, map[string]string{"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}))
			if low := look[string](p, contrast); low != "" {
				t.Errorf("%s: the contrast of %s", scheme, low)
			}
			if wide := look[int](p, overhang); wide > 0 {
				t.Errorf("at %d it is %d too wide", width, wide)
			}
		}
	}
	number := p.ask("a\u202eb [c](https://example.org/)\n\nd [e](https://example.org/f)")
	if !look[bool](p, fmt.Sprintf(`(() => {
  const [first, second] = [...document.querySelectorAll('article')[%d].querySelectorAll('.answer-words p')];
  const box = (e) => e.getBoundingClientRect();
  return box(first.querySelector('a')).left > box(first.querySelector('.host')).left && box(second.querySelector('a')).left < box(second.querySelector('.host')).left;
})()`, number)) {
		t.Error("a mark of direction reaches beyond its block, or is not there")
	}
}
