package document_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"podium/agents/document"
	"podium/schemas"
)

// TestTemplateFaults: what is wrong with a template is told with its place.
func TestTemplateFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, text, want string }{
		"unclosed":        {"a.md", "# ä\n\nüber {{.a", "a.md:3:6: unclosed action"},
		"function":        {"a.md", "ä {{shout .a}}", `a.md:1:3: function "shout" not defined`},
		"end":             {"a.md", "{{if .a}}\nx", "a.md:2:1: unexpected EOF"},
		"own template":    {"a.md", "x\n  {{template \"b\" .}}", "a.md:2:14: a template has none of its own: template means nothing here"},
		"define":          {"a.md", "x {{define \"b\"}}{{end}}", "a.md:1:5: a template has none of its own: define and block mean nothing here"},
		"all data":        {"a.md", "ö {{.}}", "a.md:1:5: {{.}} is all of the data: name a member"},
		"code":            {"a.md", "```\nx {{.a}}\n```\n", "a.md:2:5: a value inside of code: its marks would be seen"},
		"code span":       {"a.md", "`x` and `{{.a}}`", "a.md:1:12: a value inside of code: its marks would be seen"},
		"picture":         {"a.md", "x\n![logo](logo.png)", "a.md:2:1: pictures cannot be drawn: put them into layout.html"},
		"empty":           {"a.md", " \n", "a.md:1:1: it is empty"},
		"not UTF-8":       {"a.md", "\xff", "a.md:1:1: it is not UTF-8"},
		"none":            {"a.txt", "x", ":0:0: there is no template: a file such as letter.md"},
		"layout":          {"layout.html", "<p>\n{{.Body", "layout.html:2:1: unclosed action"},
		"layout's member": {"layout.html", "{{.Body}} {{.Author}}", "layout.html:1:13: executing \"layout.html\" at <.Author>: can't evaluate field Author in type document.pageData"},
		"no body":         {"layout.html", "<p>{{.Title}}</p>", "layout.html:1:1: it has no {{.Body}}, so documents would be empty"},
	} {
		_, faults := document.ParseTemplates(map[string][]byte{test.file: []byte(test.text)})
		var got []string
		for _, f := range faults {
			got = append(got, fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message))
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if _, faults := document.ParseTemplates(map[string][]byte{"a.md": []byte("a"), "A.md": []byte("b")}); len(faults) != 1 || faults[0].File != "a.md" {
		t.Errorf("two of one name: %+v", faults)
	}
}

var tags = regexp.MustCompile(`(?s)<[^>]*>`)

// shownIn is the text of a page in HTML, with blanks for all that separates words.
func shownIn(page []byte) string {
	_, body, _ := strings.Cut(string(page), "<body>")
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(body, " "))), " ")
}

// filled makes a page in HTML with one value in several places.
func filled(t *testing.T, tested *document.Agent, value string) []byte {
	t.Helper()
	data, err := schemas.Marshal(map[string]any{"document_type": "a", "content_data": map[string]any{"v": value}})
	if err != nil {
		t.Fatal(err)
	}
	request := asked(t, string(data))
	made, err := tested.Handle(t.Context(), request, silent)
	if err != nil {
		t.Fatalf("%q: %v", value, err)
	}
	return written(t, request, &made)["text/html a.html"]
}

const places = "# {{.v}}\n\n{{.v}}\n\n**bold** {{.v}}\n\n- {{.v}}\n\n> {{.v}}\n\n| x | y |\n|---|---|\n| {{.v}} | z |\n"

// TestDataAreText: whatever stands in a value is seen as it is, wherever it is put, and is never a mark.
func TestDataAreText(t *testing.T) {
	t.Parallel()
	tested := open(t, map[string]string{"a.md": places}, document.FormatHTML)
	plain := tags.FindAllString(string(filled(t, tested, "plain")), -1)
	for _, value := range []string{
		"*x* _y_ **z**", "<b>x</b>", "<script>alert(1)</script>", "[x](javascript:alert(1))", "![x](http://example.org/x.png)", "# x", "- x", "1. x", "1) x", "> x",
		"| x | y |", "`x`", "~~~", "x\\", "\\*", "&amp; &#42; &", "http://example.org", "<http://example.org>", "---", "===", "+ x", "a  b", "[x]: y", "{{.v}}", "\\\\|",
	} {
		page := filled(t, tested, value)
		want := strings.Join(strings.Fields(value), " ")
		if got := shownIn(page); got != strings.Join([]string{want, want, "bold", want, want, want, "x", "y", want, "z"}, " ") {
			t.Errorf("%q: %q", value, got)
		}
		if got := tags.FindAllString(string(page), -1); !strings.Contains(value, "<") && strings.Join(got, "") != strings.Join(plain, "") {
			t.Errorf("%q made other elements: %s", value, page)
		}
	}
	if page := string(filled(t, tested, "one\n\n    two\r\nthree")); !strings.Contains(page, "<p>one<br>\ntwo<br>\nthree</p>") || !strings.Contains(page, "<td>one two three</td>") {
		t.Errorf("lines: %s", page)
	}
}

// TestMarkdownOfData: where a template says so the Markdown of a value counts, but no HTML, no picture and no address of a program.
func TestMarkdownOfData(t *testing.T) {
	t.Parallel()
	tested := open(t, map[string]string{"a.md": "{{markdown .v}}\n"}, document.FormatHTML)
	page := string(filled(t, tested, "**x** <b>y</b> ![a *picture*](http://example.org/x.png) [z](javascript:alert(1)) [w](https://example.org/)\n\n<div>d</div>"))
	for want, there := range map[string]bool{
		"<strong>x</strong>": true, "&lt;b&gt;y": true, "&lt;div&gt;d": true, "a <em>picture</em>": true, `<a href="https://example.org/">w</a>`: true,
		"<img": false, "javascript": false, "x.png": false,
	} {
		if strings.Contains(page, want) != there {
			t.Errorf("%s: %t in %s", want, !there, page)
		}
	}
}

// TestLayoutOfTheDeployment: the page around a document is the deployment's, if it has one.
func TestLayoutOfTheDeployment(t *testing.T) {
	t.Parallel()
	tested := open(t, map[string]string{"a.md": "# {{.v}}", "layout.html": "<title>{{.Title}}</title><p>{{.Language}}</p>{{.Body}}"}, document.FormatHTML)
	if page := string(filled(t, tested, "<x>")); page != "<title>&lt;x&gt;</title><p>de</p><h1>&lt;x&gt;</h1>\n" {
		t.Errorf("%q", page)
	}
}

// FuzzDataAreText: no value adds, removes or closes an element.
func FuzzDataAreText(f *testing.F) {
	for _, value := range []string{"*x*", "<b>", "a\nb", "| |", "&#0;", "\\", "1.", "\t- x", "`", "\u2028"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		value = strings.ToValidUTF8(value, "")
		if strings.TrimSpace(value) == "" || strings.ContainsAny(value, "\r\n") {
			return
		}
		tested := open(t, map[string]string{"a.md": places}, document.FormatHTML)
		escape := func(page []byte) string {
			return strings.Join(tags.FindAllString(strings.ReplaceAll(string(page), html.EscapeString(value), ""), -1), "")
		}
		if got, want := escape(filled(t, tested, value)), escape(filled(t, tested, "plain")); got != want {
			t.Errorf("%q made other elements: %s", value, got)
		}
	})
}
