package mail

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"podium/bus/agent"
	"podium/schemas"
)

const (
	maxReferences = 20  // ids in References; RFC 5322 leaves it open, servers cut long headers
	idLimit       = 500 // bytes of one message id; a header line holds 998
	subjectLimit  = 300 // characters
	nameLimit     = 100 // characters
)

//go:embed prefixes.json
var prefixesFile []byte

// loadPrefixes reads what mail programs put before the subject of a reply.
func loadPrefixes() ([]string, error) {
	var prefixes []string
	err := schemas.Unmarshal(prefixesFile, &prefixes)
	return prefixes, err
}

// A letter is everything that a mail says.
type letter struct {
	from        *mail.Address
	to, cc      []*mail.Address
	subject     string
	messageID   string
	inReplyTo   string
	references  []string
	date        time.Time
	text        string
	html        string // the same words; empty: the letter is plain text
	attachments []attachment
	refused     []string // copies that the server has not taken
	token       string   // that the newest attempt signs in with
	question    bool     // it asks something; else it is an answer
	requester   string   // opaque key of who has begun the run; empty: it asks no people
	action      schemas.Action
}

// actionOf is what a permit is asked for: the words, the files and whom they reach.
func actionOf(subject string, recipients []*mail.Address, given *schemas.DeliveryArguments) (schemas.Action, error) {
	type file struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	}
	told := struct {
		Subject     string             `json:"subject"`
		Text        string             `json:"text"`
		Data        []schemas.DataFile `json:"data,omitzero"`
		Attachments []file             `json:"attachments,omitzero"`
	}{Subject: subject, Text: given.Text, Data: given.Data}
	for i := range given.Attachments {
		told.Attachments = append(told.Attachments, file{given.Attachments[i].Name, given.Attachments[i].Artifact.SHA256})
	}
	action := schemas.Action{Summary: subject}
	for _, recipient := range recipients {
		action.Recipients = append(action.Recipients, recipient.Address)
	}
	var err error
	action.Data, err = schemas.Marshal(told)
	return action, err
}

// peers are the mailboxes whose budgets the letter counts in, each once.
func (l *letter) peers() []string {
	var peers []string
	for _, recipient := range l.to {
		if peer := schemas.Mailbox(recipient.Address); !slices.Contains(peers, peer) {
			peers = append(peers, peer)
		}
	}
	return peers
}

// write returns the letter as it is sent and kept.
func (l *letter) write() ([]byte, error) {
	message := gomail.NewMsg(
		gomail.WithNoDefaultUserAgent(),
		gomail.WithCharset(gomail.CharsetUTF8),
		gomail.WithEncoding(gomail.EncodingQP),
	)
	message.EnvelopeFromMailAddress(l.from)
	message.FromMailAddress(l.from)
	message.SetAddrHeaderFromMailAddress(gomail.HeaderTo, l.to...)
	if len(l.cc) > 0 {
		message.SetAddrHeaderFromMailAddress(gomail.HeaderCc, l.cc...)
	}
	message.Subject(l.subject)
	message.SetDateWithValue(l.date)
	message.SetMessageIDWithValue(l.messageID)
	message.SetGenHeader("Auto-Submitted", "auto-replied")
	parent, answers := cleanID(l.inReplyTo)
	if answers {
		message.SetGenHeader(gomail.HeaderInReplyTo, "<"+parent+">")
	}
	if thread := threadOf(l.references, parent); len(thread) > 0 {
		message.SetGenHeader(gomail.HeaderReferences, "<"+strings.Join(thread, "> <")+">")
	}
	message.SetBodyString(gomail.TypeTextPlain, l.text)
	if l.html != "" {
		message.AddAlternativeString(gomail.TypeTextHTML, l.html)
	}
	for _, file := range l.attachments { // as downloads: nothing of them is shown with the words
		err := message.AttachReader(file.name, bytes.NewReader(file.content),
			gomail.WithFileContentType(gomail.ContentType(file.mediaType)), gomail.WithFileEncoding(gomail.EncodingB64))
		if err != nil {
			return nil, err
		}
	}
	var raw bytes.Buffer
	if _, err := message.WriteTo(&raw); err != nil {
		return nil, fmt.Errorf("write a mail: %w", err)
	}
	return raw.Bytes(), nil
}

// messageID is made of the effect id and the run, so that it is the same for every
// attempt, and begins with the effect id, whatever key it is signed with.
func (s *sender) messageID(request *agent.Request, inquiry int) string {
	effect := request.EffectID
	if uuid.Validate(effect) != nil || len(effect) != 36 {
		effect = schemas.EffectID(effect+request.Payload.PlanID, request.Task().TaskID)
	}
	if s.account.Sign != nil {
		if signed, err := s.account.Sign(effect, schemas.Letter{Run: request.Run, Inquiry: inquiry}); err == nil {
			return signed + "@" + s.domain
		}
	}
	return effect + "@" + s.domain
}

// effectOf returns the effect id of a Message-ID, with which it begins.
func effectOf(messageID string) string {
	left, _, _ := strings.Cut(messageID, "@")
	effect, _, _ := strings.Cut(left, ".")
	return effect
}

// threadOf returns the ids for References: those of the parent and the parent
// itself at the end. Of more than maxReferences the oldest stays, because it
// names the thread, and the newest.
func threadOf(references []string, parent string) []string {
	var thread []string
	for _, reference := range references {
		if id, ok := cleanID(reference); ok && id != parent && !slices.Contains(thread, id) {
			thread = append(thread, id)
		}
	}
	if parent != "" {
		thread = append(thread, parent)
	}
	if extra := len(thread) - maxReferences; extra > 0 {
		thread = slices.Delete(thread, 1, 1+extra)
	}
	return thread
}

// cleanID returns a message id without angle brackets; ok is false when it
// cannot stand in a header as it is.
func cleanID(id string) (clean string, ok bool) {
	clean = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(id), "<"), ">")
	if clean == "" || len(clean) > idLimit || strings.ContainsFunc(clean, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '>' }) {
		return "", false
	}
	return clean, true
}

// replySubject returns the subject with exactly one "Re: " before it, whatever
// prefixes of replies, in whatever language, it came with.
func replySubject(subject string, prefixes []string) string {
	rest := oneLine(subject, subjectLimit)
	for {
		cut, found := cutPrefix(rest, prefixes)
		if !found {
			return strings.TrimSpace("Re: " + rest)
		}
		rest = cut
	}
}

// cutPrefix removes one prefix such as "Re:", "AW :", "Re[2]:" or "回复：".
func cutPrefix(subject string, prefixes []string) (string, bool) {
	colon := strings.IndexAny(subject, ":：")
	if colon < 0 {
		return subject, false
	}
	_, width := utf8.DecodeRuneInString(subject[colon:])
	label := strings.TrimSpace(subject[:colon])
	if open := strings.IndexAny(label, "[("); open > 0 && isCount(label[open:]) {
		label = strings.TrimSpace(label[:open])
	}
	if !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.EqualFold(label, prefix) }) {
		return subject, false
	}
	return strings.TrimSpace(subject[colon+width:]), true
}

// isCount reports whether the text is a number in brackets, as in "Re[2]:".
func isCount(text string) bool {
	if len(text) < 3 || !strings.ContainsAny(text[len(text)-1:], "])") {
		return false
	}
	return strings.Trim(text[1:len(text)-1], "0123456789") == ""
}

// isUnsafe reports a character that could end a header line or hide in one.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// oneLine makes a header's words of any text: on one line and at most limit
// characters long.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isUnsafe(r) }), " ")
	if characters := []rune(text); len(characters) > limit {
		text = strings.TrimSpace(string(characters[:limit]))
	}
	return text
}
