package chat

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"podium/ingest/mime/text"
	"podium/ingest/webhook"
	"podium/schemas"
)

const (
	// teamsWindow is how long a request is held for its answer: Teams waits 5 s,
	// and what comes later reaches nobody (Microsoft Teams, "Create Outgoing Webhooks").
	teamsWindow = 4 * time.Second
	// teamsLimit bounds an answer in bytes; a message of Teams has about 28 KB.
	teamsLimit = 20_000
	// minTeamsKey is less than the 32 bytes that Teams gives.
	minTeamsKey = 16
)

// A teams takes the outgoing webhook of one team.
type teams struct {
	ordinary
	keys webhook.SigningKeys
}

func newTeams(secrets []string) (*teams, error) {
	made := &teams{keys: webhook.DecoyKeys()}
	for i, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(secret)
		if err != nil || len(key) < minTeamsKey {
			return nil, fmt.Errorf("secret %d is not the security token of an outgoing webhook: base64 of at least %d bytes", i+1, minTeamsKey)
		}
		made.keys[i] = key
	}
	return made, nil
}

// Claims implements Provider.
func (*teams) Claims(header http.Header, _ time.Time) bool {
	_, shown := teamsProof(header)
	return shown
}

// teamsProof returns the signature that a request shows.
func teamsProof(header http.Header) (signature []byte, shown bool) {
	scheme, encoded, _ := strings.Cut(header.Get("Authorization"), " ")
	signature, err := base64.StdEncoding.DecodeString(encoded)
	return signature, err == nil && strings.EqualFold(scheme, "HMAC")
}

// Verify implements Provider: HMAC-SHA256 over the body, and the time that the
// body names.
func (t *teams) Verify(body []byte, header http.Header, now time.Time) bool {
	signature, shown := teamsProof(header)
	return shown && t.keys.Signed(signature, body) && timely(body, now)
}

// timely reports whether an authentic activity is of now; one without a time is.
func timely(body []byte, now time.Time) bool {
	var activity struct {
		Time time.Time `json:"timestamp"`
	}
	if err := readJSON(body, &activity); err != nil || activity.Time.IsZero() {
		return true // it cannot be replayed with effect: its id is remembered
	}
	return !activity.Time.Before(now.Add(-webhook.Skew)) && !activity.Time.After(now.Add(webhook.Skew))
}

// A teamsActivity is what an outgoing webhook posts (Bot Framework, "Activity").
type teamsActivity struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Text   string `json:"text"`
	Locale string `json:"locale"`
	From   struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Role string `json:"role"`
	} `json:"from"`
	Conversation struct {
		ID     string `json:"id"`
		Tenant string `json:"tenantId"`
	} `json:"conversation"`
	Data struct {
		Tenant struct {
			ID string `json:"id"`
		} `json:"tenant"`
	} `json:"channelData"`
}

// Normalize implements Provider.
func (*teams) Normalize(body []byte, header http.Header) ([]Message, error) {
	if !isJSON(header) {
		return nil, problemMediaType()
	}
	var activity teamsActivity
	if err := readJSON(body, &activity); err != nil {
		return nil, err
	}
	text := plainTeams(activity.Text)
	switch {
	case activity.Type != "message":
		return nothing(ignoredType, false)
	// Bots have ids of their own kind ("28:…").
	case activity.From.Role == "bot", strings.HasPrefix(activity.From.ID, "28:"):
		return nothing(ignoredBot, false)
	case text == "":
		return nothing(ignoredEmpty, false)
	case activity.ID == "" || activity.Conversation.ID == "":
		return nil, errors.New("an activity has no id or no conversation")
	}
	return single(Message{
		Delivery: activity.ID, Locale: activity.Locale,
		ChatReceived: schemas.ChatReceived{
			Tenant: cmp.Or(activity.Data.Tenant.ID, activity.Conversation.Tenant), Thread: activity.Conversation.ID,
			MessageID: activity.ID, Text: text, User: schemas.ChatUser{ID: activity.From.ID, Name: activity.From.Name},
		},
	})
}

var (
	teamsMention = regexp.MustCompile(`(?is)<at(?:\s[^<>]*)?>.*?</at\s*>`)
	teamsEntity  = regexp.MustCompile(`^&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);`) // without its end it is part of a URL
	// teamsTag is a tag that the editor of Teams writes, which it does in small letters: <S> and <Code> are words.
	teamsTag = regexp.MustCompile(`<(/?)(at|p|div|br|BR|span|b|strong|i|em|u|s|strike|del|a|img|ul|ol|li|h[1-6]|pre|code|codeblock|blockquote|` +
		`table|thead|tbody|tr|td|th|hr|attachment|emoji|font|sub|sup)((?:\s+[a-z][-a-z]*\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*/?>`)
	// teamsAttribute is one that says what a reader sees. Others, such as colors, would hide words.
	teamsAttribute = regexp.MustCompile(`\s(?:href|alt|start|value)\s*=\s*(?:"[^"]*"|'[^']*')`)
	teamsBlock     = regexp.MustCompile(`</(?:p|div|li|tr|h[1-6]|pre|codeblock|blockquote)\s*>`)
)

// plainTeams returns the words of a text without the mention of the webhook that it begins with. Only mentions and the tags
// that Teams itself writes are markup, which is read as that of a mail: what a person types between < and > comes as it is typed.
func plainTeams(words string) string {
	if mention := teamsMention.FindStringIndex(words); mention != nil {
		words = words[:mention[0]] + words[mention[1]:]
	}
	page := teamsPage(words)
	if !teamsBlock.MatchString(words) { // it is typed without the editor: blanks and lines stay
		page = `<div style="white-space:pre-wrap">` + page
	}
	return strings.TrimSpace(strings.ReplaceAll(text.ReadPage(page), "\u00a0", " "))
}

// teamsPage makes a page of a text of Teams, in which what is no tag of Teams is escaped.
func teamsPage(words string) string {
	var page strings.Builder
	read := 0
	for _, at := range teamsTag.FindAllStringSubmatchIndex(words, -1) {
		escapeTeams(&page, words[read:at[0]])
		read = at[1]
		name := words[at[4]:at[5]]
		switch name {
		case "at", "attachment":
			continue
		case "p":
			name = "div" // there is no blank line between two
		case "codeblock":
			name = "pre"
		case "emoji":
			name = "img"
		}
		page.WriteString("<" + words[at[2]:at[3]] + name)
		for _, attribute := range teamsAttribute.FindAllString(words[at[6]:at[7]], -1) {
			page.WriteString(attribute)
		}
		page.WriteString(">")
	}
	escapeTeams(&page, words[read:])
	return strings.ReplaceAll(page.String(), "<div>&nbsp;</div>", "<div><br></div>") // an empty line
}

// escapeTeams writes words into a page, with the entities that are in them.
func escapeTeams(page *strings.Builder, words string) {
	for i := range len(words) {
		switch {
		case words[i] == '<':
			page.WriteString("&lt;")
		case words[i] == '&' && !teamsEntity.MatchString(words[i:]):
			page.WriteString("&amp;")
		default:
			page.WriteByte(words[i])
		}
	}
}

// A teamsAnswer is the answer to an outgoing webhook. Plain text is neither
// Markdown nor HTML: nothing in it is fetched, and nobody is mentioned.
type teamsAnswer struct {
	Type   string `json:"type"`
	Format string `json:"textFormat"`
	Text   string `json:"text"`
}

// Acknowledge implements Provider. Teams takes an answer here and nowhere else.
func (*teams) Acknowledge(e *exchange, results []result) {
	text := ""
	if len(results) > 0 && results[0].message.Ignored == "" {
		text = e.answerWithin(results[0], teamsWindow)
		if len(text) > teamsLimit { // cut between two characters
			text = strings.ToValidUTF8(text[:teamsLimit], "") + "…\n" + results[0].runURL(e)
		}
	}
	e.json(teamsAnswer{Type: "message", Format: "plain", Text: text})
}
