package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podium/ingest/page"
	"podium/schemas"
	"podium/schemas/sentences"
)

func get(t *testing.T, path, language string, channels ...string) *httptest.ResponseRecorder {
	t.Helper()
	adapter, err := page.New(channels)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	request.Header.Set("Accept-Language", language)
	recorder := httptest.NewRecorder()
	adapter.Handler().ServeHTTP(recorder, request)
	return recorder
}

// The policy names exactly what stands in the page, and nothing in the page comes
// from elsewhere.
func TestPolicy(t *testing.T) {
	t.Parallel()
	answer := get(t, "/chat/web", "en", "web")
	policy, body := answer.Header().Get("Content-Security-Policy"), answer.Body.String()
	for _, name := range []string{"script", "style"} {
		inside := regexp.MustCompile(`(?s)<`+name+`>(.*?)</`+name+`>`).FindAllStringSubmatch(body, -1)
		if len(inside) != 1 {
			t.Fatalf("%d elements %s", len(inside), name)
		}
		sum := sha256.Sum256([]byte(inside[0][1]))
		if want := name + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"; !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("policy %s", policy)
	}
	markup := regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`).ReplaceAllString(body, "")
	if found := regexp.MustCompile(`\s(on[a-z]+|style|srcset|src)=|https?://`).FindAllString(strings.ReplaceAll(markup, "http://www.w3.org/2000/svg", ""), -1); found != nil {
		t.Errorf("the page has %q", found)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Vary": "Accept-Language",
	} {
		if got := answer.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if answer.Header().Get("Set-Cookie") != "" {
		t.Error("it sets a cookie")
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "en-GB": "en", "fr": "en", "": "en", "fr, de;q=0.5": "de", "nonsense;;": "en",
	} {
		answer := get(t, "/chat/web", asked, "web")
		if got := answer.Header().Get("Content-Language"); got != want || !strings.Contains(answer.Body.String(), `<html lang="`+want+`">`) {
			t.Errorf("%q: %s, want %s", asked, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for path, test := range map[string]struct {
		channels []string
		status   int
		holds    string
	}{
		"/chat/web":    {[]string{"web"}, 200, `data-channel="web" data-root="../"`},
		"/":            {[]string{"web"}, 200, `data-channel="web" data-root=""`},
		"/chat/other":  {[]string{"web"}, 404, ""},
		"/chat/":       {[]string{"web"}, 404, ""},
		"/elsewhere":   {[]string{"web"}, 404, ""},
		"/chat/second": {[]string{"web", "second"}, 200, `data-channel="second"`},
	} {
		if answer := get(t, path, "en", test.channels...); answer.Code != test.status || !strings.Contains(answer.Body.String(), test.holds) {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
	both := get(t, "/", "en", "web", "second").Body.String()
	if first, second := strings.Index(both, `href="chat/second"`), strings.Index(both, `href="chat/web"`); first < 0 || second < first || strings.Contains(both, "<script>") {
		t.Errorf("the list of channels: %s", both)
	}
	if _, err := page.New(nil); err == nil {
		t.Error("there are pages of no channel")
	}
}

// The library is that of its author, and nothing in the scripts ends their element or
// asks for a file.
func TestScripts(t *testing.T) {
	t.Parallel()
	library, err := os.ReadFile("marked/marked.js")
	if err != nil {
		t.Fatal(err)
	}
	const released = "bb95d4c15f1289f78486eaacebf3bb18688475ed58a040ef762ed49337090542"
	if got := fmt.Sprintf("%x", sha256.Sum256(library)); got != released {
		t.Errorf("marked.js has the sum %s, and marked 18.2.1 has %s", got, released)
	}
	body := get(t, "/chat/web", "en", "web").Body.String()
	_, script, _ := strings.Cut(body, "<script>")
	script, _, _ = strings.Cut(script, "</script>")
	for _, end := range []string{"const written = ", "toEnd();\n  });\n})();\n"} {
		if !strings.Contains(script, end) {
			t.Errorf("the script lacks %q", end)
		}
	}
	for _, wrong := range []string{"<script", "sourceMappingURL", "innerHTML", "eval(", "new Function"} {
		if strings.Contains(strings.ToLower(script), strings.ToLower(wrong)) {
			t.Errorf("the script has %q", wrong)
		}
	}
}

// Every word that the page and its script say is there, and none is there in vain.
func TestWords(t *testing.T) {
	t.Parallel()
	spoken := map[string]bool{}
	stems := []string{"step_", "outcome_", "reason_"}
	for _, file := range []string{"page.js", "page.html", "index.html"} {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`'([a-z_]+)'|\.Words\.([a-z_]+)`).FindAllStringSubmatch(string(body), -1) {
			spoken[found[1]+found[2]] = true
		}
		for _, found := range regexp.MustCompile(`(?:say\('|\.Words\.)([a-z_]+)['} ]`).FindAllStringSubmatch(string(body), -1) {
			if _, known := words(t)["en"][found[1]]; !known && !slices.Contains(stems, found[1]) {
				t.Errorf("%s says %q, which has no words", file, found[1])
			}
		}
	}
	for key := range words(t)["en"] {
		if !spoken[key] && !slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(key, stem) }) {
			t.Errorf("nobody says %q", key)
		}
	}
	var wanted []string
	for _, state := range []string{"waiting", "running", "completed", "broken", "skipped"} {
		wanted = append(wanted, "step_"+state)
	}
	for _, status := range []schemas.RunStatus{schemas.RunCompleted, schemas.RunPartial, schemas.RunFailed, schemas.RunBlocked, schemas.RunCancelled, "ignored", "refused"} {
		wanted = append(wanted, "outcome_"+string(status))
	}
	for _, reason := range []schemas.StopReason{
		schemas.StopTaskFailed, schemas.StopTimeout, schemas.StopNoRoute, schemas.StopCancelled, schemas.StopInvalidPlan, schemas.StopExpired,
		schemas.StopSuperseded, schemas.StopBlocked, schemas.StopUnavailable, schemas.StopRefuted,
	} {
		wanted = append(wanted, "reason_"+string(reason))
	}
	for _, key := range wanted {
		if words(t)["en"][key] == "" {
			t.Errorf("there are no words for %s", key)
		}
	}
	body := get(t, "/chat/web", "de", "web").Body.String()
	encoded := regexp.MustCompile(`data-words="([^"]*)"`).FindStringSubmatch(body)
	var told map[string]string
	if err := schemas.Unmarshal([]byte(html.UnescapeString(encoded[1])), &told); err != nil || told["send"] != words(t)["de"]["send"] {
		t.Errorf("the page tells its script %v: %v", told, err)
	}
}

func words(t *testing.T) sentences.Catalog {
	t.Helper()
	body, err := os.ReadFile("words.json")
	if err != nil {
		t.Fatal(err)
	}
	read, err := sentences.Read(body)
	if err != nil {
		t.Fatal(err)
	}
	places := regexp.MustCompile(`\{\w+\}`)
	for key, sentence := range read["en"] {
		there, here := places.FindAllString(read["de"][key], -1), places.FindAllString(sentence, -1)
		slices.Sort(there)
		slices.Sort(here)
		if !slices.Equal(there, here) {
			t.Errorf("%s has the places %q and %q", key, here, there)
		}
	}
	return read
}
