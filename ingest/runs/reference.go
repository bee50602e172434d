package runs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"podium/bus/intake"
	"podium/schemas"
)

// A reference names a run, or the message that may become one.
type reference struct {
	session  string
	run      int    // "<session>-<n>"
	sequence uint64 // "<session>~<sequence>": of the message in its session's shard
}

// parseReference is false for what is neither <session>-<n> nor <session>~<sequence>.
func parseReference(text string) (parsed reference, ok bool) {
	session, digits, isMessage := strings.Cut(text, "~")
	if !isMessage {
		session, run, err := schemas.ParseRunID(text)
		if err != nil || schemas.RunID(session, run) != text {
			return reference{}, false
		}
		return reference{session: session, run: run}, true
	}
	sequence, err := strconv.ParseUint(digits, 10, 64)
	parsed = reference{session: session, sequence: sequence}
	if err != nil || sequence == 0 || len(session) != 36 || uuid.Validate(session) != nil || parsed.String() != text {
		return reference{}, false
	}
	return parsed, true
}

func (r reference) String() string {
	if r.sequence > 0 {
		return r.session + "~" + strconv.FormatUint(r.sequence, 10)
	}
	return schemas.RunID(r.session, r.run)
}

func referenceOf(receipt intake.Receipt) reference {
	return reference{session: receipt.Session, sequence: receipt.Sequence}
}

// capability returns the key that opens one session for reading.
func (a *API) capability(session string) string {
	mac := hmac.New(sha256.New, a.config.CapabilityKey)
	_, _ = mac.Write([]byte("podium read session\x00" + session))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// urls returns where a run and its events are read, the key included.
func (a *API) urls(ref reference) (run, events string) {
	path := a.config.BaseURL + "/v1/runs/" + ref.String()
	query := "?key=" + a.capability(ref.session)
	return path + query, path + "/events" + query
}

// An access is what a reader may see.
type access struct {
	session  string          // opened by a key
	channels map[string]bool // opened by a token
}

// access returns what a request's key and token open; false when nothing.
func (a *API) access(r *http.Request, ref reference) (access, bool) {
	granted := access{channels: map[string]bool{}}
	if hmac.Equal([]byte(r.URL.Query().Get("key")), []byte(a.capability(ref.session))) {
		granted.session = ref.session
	}
	for name, bearer := range a.bearers {
		if bearer.Reads(r.Header) {
			granted.channels[name] = true
		}
	}
	return granted, granted.session != "" || len(granted.channels) > 0
}

// opens reports whether a conversation may be read, given the chat channel that
// it came in by; empty is one that came in by another adapter.
func (a access) opens(session, channel string) bool {
	return a.session == session || a.channels[channel]
}

// SourceOf is the CloudEvents source of a channel's messages.
func SourceOf(channel string) string { return "/podium/chat/" + url.PathEscape(channel) }

// channelOf returns the channel of an event of this adapter, or nothing.
func channelOf(event *schemas.Event) string {
	escaped, ours := strings.CutPrefix(event.Source, SourceOf(""))
	if event.Type != schemas.TypeChatReceived || !ours {
		return ""
	}
	channel, _ := url.PathUnescape(escaped) // or nothing
	return channel
}
