// Package page is the chat page: one HTML page for each chat channel that has one,
// made when the adapter is opened, with its style and its script inside and nothing of
// anybody else.
//
//	GET /               the page of the only channel, or the list of all
//	GET /chat/{channel} the page of a channel
//
// # Guarantees
//
// The page does what its script's author wrote and nothing else: the content security
// policy names its script and its style by their hashes, forbids every connection but
// to the service itself, every frame around it, and every way of making HTML of text.
// Answers are text: what they hold of Markdown becomes elements that are made one by
// one of a fixed list, never HTML, and nothing of an answer is loaded. What a person
// has written is shown as written.
//
// Whoever writes proves himself with the channel's token in a header, which no other
// site can have a browser send: there are no cookies, so nothing can be forged across
// sites. A wrong token is noticed at once. The token and the conversation stay in the tab (sessionStorage) until it is
// closed. The page itself is the same for everybody and may be read by anybody.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"podium/schemas"
	"podium/schemas/sentences"
)

var (
	//go:embed page.html
	pageFile string
	//go:embed index.html
	indexFile string
	//go:embed page.css
	styleFile string
	//go:embed page.js
	pageScript string
	//go:embed markdown.js
	markdownScript string
	// marked.js is that of the npm package marked 18.2.1, byte for byte.
	//go:embed marked/marked.js
	markedScript string
	//go:embed words.json
	wordsFile []byte
)

// A Adapter serves the pages. It is safe for use by several goroutines at once.
type Adapter struct {
	words    sentences.Catalog
	tags     []string // of the languages, the fallback first
	matcher  language.Matcher
	script   string
	policy   string
	channels []string
	pages    map[place][]byte
}

// A place is one page in one language. The page at the root has no channel.
type place struct{ channel, language string }

// New returns the pages of the channels, in all languages.
func New(channels []string) (*Adapter, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	if len(channels) == 0 {
		return nil, errors.New("no channel has a page")
	}
	d := &Adapter{words: words, channels: slices.Sorted(slices.Values(channels)), pages: make(map[place][]byte)}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(words)), func(tag string) bool { return tag == schemas.FallbackLanguage })
	d.tags = append([]string{schemas.FallbackLanguage}, others...)
	var known []language.Tag
	for _, tag := range d.tags {
		known = append(known, language.Make(tag))
	}
	d.matcher = language.NewMatcher(known)
	library, _, _ := strings.Cut(markedScript, "//# sourceMappingURL=") // tools would ask for that file here
	d.script = library + markdownScript + pageScript
	d.policy = "default-src 'none'; script-src " + hash(d.script) + "; style-src " + hash(styleFile) + "; connect-src 'self'; img-src data:; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	return d, d.render()
}

// hash names what is inside an element for the policy (Content Security Policy 3, section 2.3.1).
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// render makes every page once.
func (d *Adapter) render() error {
	page, index := template.Must(template.New("page").Parse(pageFile)), template.Must(template.New("index").Parse(indexFile))
	for _, tag := range d.tags {
		for _, channel := range d.channels {
			if err := d.add(place{channel, tag}, page, channel, "../"); err != nil {
				return err
			}
		}
		first, root := page, d.channels[0]
		if len(d.channels) > 1 {
			first = index
		}
		if err := d.add(place{"", tag}, first, root, ""); err != nil {
			return err
		}
	}
	return nil
}

func (d *Adapter) add(at place, from *template.Template, channel, root string) error {
	messages, err := schemas.Marshal(d.words[at.language])
	if err != nil {
		return err
	}
	var made bytes.Buffer
	err = from.Execute(&made, map[string]any{
		"Language": at.language, "Words": d.words[at.language], "Messages": string(messages), "Channel": channel, "Channels": d.channels,
		"Root": root, "Style": template.CSS(styleFile), "Script": template.JS(d.script),
	})
	d.pages[at] = made.Bytes()
	return err
}

// Handler returns the pages.
func (d *Adapter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { d.serve(w, r, "") })
	mux.HandleFunc("GET /chat/{channel}", func(w http.ResponseWriter, r *http.Request) { d.serve(w, r, r.PathValue("channel")) })
	return mux
}

func (d *Adapter) serve(w http.ResponseWriter, r *http.Request, channel string) {
	_, index := language.MatchStrings(d.matcher, r.Header.Get("Accept-Language"))
	body, known := d.pages[place{channel, d.tags[index]}]
	if !known {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Content-Language", d.tags[index])
	header.Set("Vary", "Accept-Language")
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", d.policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	_, _ = w.Write(body) // a reader that has gone needs no page
}
