package mail

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestHTMLOfWords(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"one\ntwo\n\nthree":                 "<p>one<br>\ntwo</p>\n<p>three</p>\n",
		"a:\n- b\n- c\n  d\ne":              "<p>a:</p>\n<ul>\n<li>b</li>\n<li>c<br>\nd</li>\n</ul>\n<p>e</p>\n",
		"1. a\n2. b\n\n3. c":                "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n<ol start=\"3\">\n<li>c</li>\n</ol>\n",
		"- a\n1. b":                         "<ul>\n<li>a</li>\n</ul>\n<ol>\n<li>b</li>\n</ol>\n",
		"<img src=x onerror=alert(1)> & \"": "<p>&lt;img src=x onerror=alert(1)&gt; &amp; &#34;</p>\n",
		"2026. was a year":                  "<p>2026. was a year</p>\n",
		"see https://example.org/a?b=1&c=2.": `<p>see <a href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer">` +
			"https://example.org/a?b=1&amp;c=2</a>.</p>\n",
		"(http://example.org/x_(y)), http://": `<p>(<a href="http://example.org/x_(y)" rel="noopener noreferrer">` +
			"http://example.org/x_(y)</a>), http://</p>\n",
		"javascript:alert(1) xhttp://a.example ftp://a.example www.a.example": "<p>javascript:alert(1) xhttp://a.example ftp://a.example www.a.example</p>\n",
		"https://bank.example@evil.example/":                                  "<p>https://bank.example@evil.example/</p>\n",
		"http://a.example\" onclick=\"x":                                      `<p><a href="http://a.example" rel="noopener noreferrer">http://a.example</a>&#34; onclick=&#34;x</p>` + "\n",
		"https://" + strings.Repeat("a", 3000) + ".example":                   "<p>https://" + strings.Repeat("a", 3000) + ".example</p>\n",
		"": "",
	} {
		got := htmlOf(words, "de")
		_, body, _ := strings.Cut(got, "<body>\n")
		if body != want+"</body></html>\n" || !strings.HasPrefix(got, "<!DOCTYPE html>\n<html lang=\"de\"><head><meta charset=\"utf-8\"></head>") {
			t.Errorf("%.60q gives\n%s", words, got)
		}
	}
	if got := htmlOf("x", `de" onload="x`); strings.Contains(got, "onload") {
		t.Errorf("a language stands in the document as it is: %s", got)
	}
}

// FuzzHTML proves that the document is well-formed, has no elements or attributes
// but those of its own, says the words, and links to nothing that does not stand
// in them.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		"a\n\nb", "- a\n  b\n1. c", "<b>", "http://a.example/x?y=1&z=2), https://b.example", "https://http://a.example",
		"http://[::1]:80/", "http://%zz", "&lt;", "\"'`", "• \u202ehttp://a.example\u2028",
	} {
		f.Add(seed)
	}
	spaces := regexp.MustCompile(`[\s•*\-0-9.]+`)
	f.Fuzz(func(t *testing.T, given string) {
		words := plainWords(given)
		document := htmlOf(words, "en")
		_, body, _ := strings.Cut(document, "<body>")
		body = strings.TrimSuffix(body, "</html>\n")
		body = strings.TrimSuffix(strings.ReplaceAll(body, "<br>", "<br/>"), "</body>")
		decoder := xml.NewDecoder(strings.NewReader("<body>" + body + "</body>"))
		decoder.Entity = xml.HTMLEntity
		var said strings.Builder
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if strings.ContainsFunc(words, func(r rune) bool { return r == 0xFFFE || r == 0xFFFF || r > 0xFFFF }) {
					return // XML has fewer characters than HTML
				}
				t.Fatalf("%q: %v\n%s", words, err, document)
			}
			switch token := token.(type) {
			case xml.CharData:
				said.Write(token)
			case xml.StartElement:
				checkElement(t, token, words)
			}
		}
		want, got := spaces.ReplaceAllString(words, ""), spaces.ReplaceAllString(said.String(), "")
		if want != got {
			t.Errorf("%q says %q", words, said.String())
		}
	})
}

func checkElement(t *testing.T, element xml.StartElement, words string) {
	t.Helper()
	switch element.Name.Local {
	case "body", "p", "br", "ul", "ol", "li", "a":
	default:
		t.Errorf("%q gives the element %s", words, element.Name.Local)
	}
	for _, attribute := range element.Attr {
		switch attribute.Name.Local {
		case "start", "rel":
		case "href":
			address := html.UnescapeString(attribute.Value)
			if !strings.Contains(words, address) || !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
				t.Errorf("%q links to %q", words, address)
			}
		default:
			t.Errorf("%q gives the attribute %s", words, attribute.Name.Local)
		}
	}
}
