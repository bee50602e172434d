package dav_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/agents/dav"
	"podium/agents/dav/radicale"
)

// retagged is a proxy before a server that changes each ETag, in headers and in listings.
func retagged(t *testing.T, server string, change func(tag string) string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Accept-Encoding")
	}}
	proxy.ModifyResponse = func(response *http.Response) error {
		if tag := response.Header.Get("ETag"); tag != "" {
			response.Header.Set("ETag", change(tag))
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		body = regexp.MustCompile(`(<(?:[A-Za-z]+:)?getetag>)([^<]*)(</)`).ReplaceAllFunc(body, func(found []byte) []byte {
			begin, end := bytes.IndexByte(found, '>')+1, bytes.LastIndexByte(found, '<')
			tag := strings.ReplaceAll(string(found[begin:end]), "&quot;", `"`)
			return []byte(string(found[:begin]) + change(tag) + string(found[end:]))
		})
		response.Body = io.NopCloser(bytes.NewReader(body))
		response.ContentLength = int64(len(body))
		response.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	}
	made := httptest.NewServer(proxy)
	t.Cleanup(made.Close)
	return made.URL
}

// TestETagsThatNameNothing: a weak ETag, and one that the server does not accept, count as none: nothing is written, and
// the refusal says so. It does not say that another program changed the entry. An ETag without quotes gets them.
func TestETagsThatNameNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(tag string) string
		writes bool
	}{
		"weak":           {func(tag string) string { return "W/" + tag }, false},
		"weak, small":    {func(tag string) string { return " w/" + tag }, false},
		"none":           {func(string) string { return "" }, false},
		"another one":    {func(string) string { return `"other"` }, false},
		"not to be sent": {func(string) string { return `a "b` }, false},
		"without quotes": {func(tag string) string { return strings.Trim(tag, `"`) }, true},
		"as it is":       {func(tag string) string { return tag }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := radicale.Start(t)
			address := retagged(t, server.URL, c.change)
			card := "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:x\r\nFN:one\r\nN:one;;;;\r\nEND:VCARD\r\n"
			event := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:x\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260330T070000Z\r\n" +
				"DTEND:20260330T073000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
			for path, body := range map[string]string{radicale.Contacts + "x.vcf": card, radicale.Calendar + "x.ics": event} {
				kind, home := dav.AddressBooks(), radicale.Contacts
				if strings.HasSuffix(path, ".ics") {
					kind, home = dav.Calendars(), radicale.Calendar
				}
				made := client(t, kind, address+home)
				server.Put(t, path, body)
				got, err := made.Get(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				all, err := made.Contacts(t.Context())
				if home == radicale.Calendar {
					day := time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC)
					all, err = made.Appointments(t.Context(), day, day.AddDate(0, 0, 1))
				}
				if err != nil || len(all) != 1 || all[0].ETag != got.ETag {
					t.Fatalf("listed as %+v, %v; read as %q", all, err, got.ETag)
				}
				for _, failed := range []error{made.Replace(t.Context(), &got, []byte(body)), made.Remove(t.Context(), &all[0])} {
					if c.writes {
						if failed != nil {
							t.Errorf("%s: %v", path, failed)
						}
						continue
					}
					if !errors.Is(failed, dav.ErrNoETag) {
						t.Errorf("%s: %v", path, failed)
					}
					if said := made.Failure("en", failed); !said.Permanent || said.Unknown || !strings.Contains(said.Message, "no version") || !strings.Contains(said.Remedy, "ETag") {
						t.Errorf("%s: %+v", path, said)
					}
				}
			}
		})
	}
}
