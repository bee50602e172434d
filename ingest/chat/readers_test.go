package chat_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"podium/bus/memory"
	"podium/ingest/chat"
)

// TestOneKeyOrAddressDoesNotTakeAllPlaces: the readers of one run URL have a share of the places, and so have all keys
// that come from one address. A reader with the channel's token has no share by address.
func TestOneKeyOrAddressDoesNotTakeAllPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const readers, ofKey, ofAddress = 100, 4, 25
		adapter := newAdapter(t, memory.New(1), func(c *chat.Config) { c.Runs.Readers = readers })
		answered := func(path, address string, header ...string) int {
			request := get(path, header...).request(t.Context())
			request.RemoteAddr = address
			recorder := httptest.NewRecorder()
			adapter.Handler().ServeHTTP(recorder, request)
			return recorder.Code
		}
		serve := func(path, address string) {
			request := get(path).request(t.Context())
			request.RemoteAddr = address
			go adapter.Handler().ServeHTTP(&tap{header: http.Header{}}, request)
			synctest.Wait()
		}
		var urls []string
		for range 1 + ofAddress/ofKey + 1 {
			urls = append(urls, accept(t, adapter, post("web", `{"text":"each begins a conversation"}`)).Events)
		}
		for range ofKey {
			serve(urls[0], "192.0.2.7:1")
		}
		if code := answered(urls[0], "198.51.100.9:1"); code != http.StatusServiceUnavailable {
			t.Errorf("a key with all its places in use is answered %d from another address", code)
		}
		for i := ofKey; i < ofAddress; i++ {
			serve(urls[i/ofKey], "192.0.2.7:1")
		}
		last := urls[len(urls)-1]
		if code := answered(last, "192.0.2.7:2"); code != http.StatusServiceUnavailable {
			t.Errorf("an address with all its places in use is answered %d", code)
		}
		run := strings.Replace(last, "/events", "", 1)
		waited := httptest.NewRecorder()
		request := get(run, "Prefer", "wait=1").request(t.Context())
		request.RemoteAddr = "192.0.2.7:3"
		adapter.Handler().ServeHTTP(waited, request)
		if waited.Header().Get("Preference-Applied") != "" {
			t.Error("an address with all its places in use waits")
		}
		var live tap
		others := follow(t.Context(), adapter, &live, get(last))
		withToken := tap{header: http.Header{}}
		request = get(last, "Authorization", "Bearer "+token).request(t.Context())
		request.RemoteAddr = "192.0.2.7:4"
		go adapter.Handler().ServeHTTP(&withToken, request)
		synctest.Wait()
		if live.status != http.StatusOK || withToken.status != http.StatusOK {
			t.Errorf("another address is answered %d, and the channel's token %d", live.status, withToken.status)
		}
		adapter.Close()
		<-others
		synctest.Wait()
	})
}
