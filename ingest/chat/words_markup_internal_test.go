package chat

import (
	"net/http"
	"testing"
)

// TestSlackMarkupIsReadAsSeen: links, mentions and dates are told as the person who wrote sees them.
func TestSlackMarkupIsReadAsSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"invite <mailto:tilda@works.example|tilda@works.example>, please":                        "invite tilda@works.example, please",
		"<mailto:tilda@works.example>":                                                           "tilda@works.example",
		"<mailto:tilda@works.example|Tilda>":                                                     "Tilda",
		"<MAILTO:a@b.example|a@b.example>":                                                       "a@b.example",
		"call <tel:+49301234|+49 30 1234> or <tel:112>":                                          "call +49 30 1234 or 112",
		"see <https://works.example/a?b=1&amp;c=2|the page>":                                     "see the page (https://works.example/a?b=1&c=2)",
		"see <https://works.example/a?b=1&amp;c=2>":                                              "see https://works.example/a?b=1&c=2",
		"<http://works.example|works.example> <http://b.example/|b.example>":                     "http://works.example http://b.example/",
		"<https://a.example|https://a.example>":                                                  "https://a.example",
		"ask <@U77> or <@U78|ann>":                                                               "ask @U77 or @ann",
		"in <#C9|store>, <#C8>, <#C7|>":                                                          "in #store, #C8, #C7",
		"<!here> <!channel> <!everyone|everyone>":                                                "@here @channel everyone",
		"<!subteam^S1|@works> <!subteam^S2>":                                                     "@works @S2",
		"due <!date^1392734382^{date}|Feb 18, 2014>":                                             "due Feb 18, 2014",
		"<!date^1392734382^Posted {date_num} {time_secs}^https://a.example/|2014-02-18 6:39 AM>": "2014-02-18 6:39 AM",
		"&lt;@U77&gt; is typed":                                                                  "<@U77> is typed",
		"&lt;mailto:a@b.c|x&gt; &amp;lt; Map&lt;K,V&gt;":                                         "<mailto:a@b.c|x> &lt; Map<K,V>",
		"3 &lt; 4 | 5 &gt; 2":                                                                    "3 < 4 | 5 > 2",
	} {
		if got := plainSlack(text); got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}

// TestSlackOwnMentionIsNoWord: the mention of the app that a message begins with is cut, with and without its name.
func TestSlackOwnMentionIsNoWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<@UBOT> what is it?": "what is it?", "<@UBOT|podium> ask <@UBOT>": "ask @UBOT", "<@UBOTS> what?": "@UBOTS what?", "&lt;@UBOT&gt; x": "<@UBOT> x",
	} {
		got, err := (&slack{}).Normalize([]byte(slackEventBody(`{"type":"message","user":"U1","text":"`+text+`","ts":"1.2","channel":"C1"}`)), jsonHeader())
		if err != nil || len(got) != 1 || got[0].Text != want {
			t.Errorf("%s is read as %+v (%v), want %q", text, got, err, want)
		}
	}
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {jsonType}} }

// TestTeamsWordsInAngleBracketsStay: only mentions and the tags that Teams writes are markup.
func TestTeamsWordsInAngleBracketsStay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<at>Podium</at> is 3 < 4 and 9 > 2 ? print Map<String> for Lee <lee@works.example>\n": "is 3 < 4 and 9 > 2 ? print Map<String> for Lee <lee@works.example>",
		"<at>P</at> List<T>, Map<K, V>, <T extends Bar>":                                       "List<T>, Map<K, V>, <T extends Bar>",
		"<at>P</at> fill in <name> and <your address>":                                         "fill in <name> and <your address>",
		"<at>P</at> <order id=\"1\"><item/></order>":                                           "<order id=\"1\"><item/></order>",
		"<at>P</at> see <https://works.example/a>":                                             "see <https://works.example/a>",
		"<at>P</at> if a<b and c>d":                                                            "if a<b and c>d",
		"<at>P</at> a <- b, x <= y, <> and <!-- x -->":                                         "a <- b, x <= y, <> and <!-- x -->",
		"<p>a</p><p>b</p>": "a\nb",
		"<p><at>P</at>&nbsp;a</p><div>b<br>c<br/>d</div>":                           "a\nb\nc\nd",
		"<p>2 &lt; 3 &amp;&amp; Map&lt;String&gt;</p>":                              "2 < 3 && Map<String>",
		"<a href=\"https://a.example\" title='x'>the page</a> <strong>now</strong>": "the page <https://a.example> now",
		"<at id=\"0\">P</at> <span style=\"color:red\">x</span>":                    "x",
		"<at>P</at> Set<S> of <B>, <A>, <I> and <Code>":                             "Set<S> of <B>, <A>, <I> and <Code>",
		"a<BR>b https://a.example/?x=1&copy=2&lt=3":                                 "a\nb https://a.example/?x=1&copy=2&lt=3",
		"&#60;x&#x3e; &eacute;":                                                     "<x> é",
		"<attic> <at least two>":                                                    "<attic> <at least two>",
	} {
		if got := plainTeams(text); got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}

// TestTeamsMarkupIsReadAsSeen: addresses of links, raised and lowered figures, struck-out words, numbers of lists, code
// and pictures are told as in mails.
func TestTeamsMarkupIsReadAsSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<at>P</at> see <a href="https://a.example/x">the page</a>, please`:                    "see the page <https://a.example/x>, please",
		`<p>see <a href="https://a.example/x?a=1&amp;b=2" title="x">here</a></p>`:              "see here <https://a.example/x?a=1&b=2>",
		`<a href="https://a.example/x">https://a.example/x</a>`:                                "https://a.example/x",
		`write to <a href="mailto:ana@a.example">Ana</a>`:                                      "write to Ana <ana@a.example>",
		`<at>P</at> 10<sup>2</sup> cm<sup>3</sup> of H<sub>2</sub>O`:                           "10^2 cm^3 of H2O",
		`<p>size 5<sup>1</sup> &lt; 6</p>`:                                                     "size 5^1 < 6",
		`<s>two</s> three, <strike>no</strike> <del>never</del> yes`:                           "~~two~~ three, ~~no never~~ yes",
		"<ul>\n<li>a</li><li>b</li></ul>":                                                      "- a\n- b",
		"<ol><li>a</li><li>b</li></ol>":                                                        "1. a\n2. b",
		`<ol start="3"><li>a</li><li>b<ul><li>c</li></ul></li></ol>`:                           "3. a\n4. b\n  - c",
		"<div>Take this:</div><pre>if a:\n    return 1</pre>":                                  "Take this:\nif a:\n    return 1",
		`<p>x</p><codeblock class="Go"><code>for {<br>  x()<br>}</code></codeblock>`:           "x\nfor {\n  x()\n}",
		"<at>P</at> two  blanks\n  and a line":                                                 "two  blanks\n  and a line",
		"<at>P</at> two  blanks\n  and a <b>line</b>":                                          "two  blanks\n  and a line",
		`<p>yes <emoji id="smile" alt="😀" title="Smile"></emoji> <img alt="plan" src="x"></p>`: "yes 😀 [plan]",
		"<blockquote><p>Which?</p></blockquote><p>The blue one.</p>":                           "> Which?\nThe blue one.",
		`<p style="display:none">a</p><p><span style="color:white">b</span></p>`:               "a\nb",
		"<table><tr><td>a</td><td>b</td></tr></table>":                                         "a b",
		"<p>a &amp; b &amp;lt; &copy=2</p>":                                                    "a & b &lt; &copy=2",
		"<p>List<T> x<sup>2</sup></p>":                                                         "List<T> x^2",
		"<p>a</p><p>&nbsp;</p><p>b</p>":                                                        "a\n\nb",
	} {
		if got := plainTeams(text); got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}
