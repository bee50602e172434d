package schemas

import "time"

// An EmailReceived is one mail as the mail door read it. Everything in it
// comes from outside and is tainted.
type EmailReceived struct {
	Account     string    `json:"account"`
	Mailbox     string    `json:"mailbox"`
	UIDValidity uint32    `json:"uid_validity"`
	UID         uint32    `json:"uid"`
	MessageID   string    `json:"message_id,omitzero"` // without angle brackets
	InReplyTo   string    `json:"in_reply_to,omitzero"`
	References  []string  `json:"references,omitzero"` // oldest first
	From        []Address `json:"from"`
	ReplyTo     []Address `json:"reply_to,omitzero"`
	To          []Address `json:"to,omitzero"`
	Cc          []Address `json:"cc,omitzero"`
	Subject     string    `json:"subject,omitzero"`
	Date        time.Time `json:"date,omitzero"`     // the Date header, as its author says
	Received    time.Time `json:"received"`          // INTERNALDATE
	Text        string    `json:"text"`              // the new words
	Quoted      string    `json:"quoted,omitzero"`   // what was quoted below or between them
	Hidden      string    `json:"hidden,omitzero"`   // text that HTML hides from a reader
	Language    string    `json:"language,omitzero"` // Content-Language, as its author says
	Class       MailClass `json:"class"`
	// Parse says whether the mail was understood; Problems says what was not.
	Parse       ParseState   `json:"parse"`
	Problems    []string     `json:"problems,omitzero"`
	Attachments []Attachment `json:"attachments,omitzero"`
	Raw         Artifact     `json:"raw"`
}

// An Address is one mailbox of an address list.
type Address struct {
	Name    string `json:"name,omitzero"`
	Address string `json:"address"`
}

// An Attachment is data that came with a message; its name is data, never a path (G-42).
type Attachment struct {
	Name      string   `json:"name,omitzero"`
	MediaType string   `json:"media_type"`
	ContentID string   `json:"content_id,omitzero"`
	Artifact  Artifact `json:"artifact"`
}

// MailClass says who wrote a mail; only a human gets an automatic answer (RFC 3834).
type MailClass string

// The classes of mail.
const (
	MailHuman     MailClass = "human"
	MailAutoReply MailClass = "autoreply"
	MailBounce    MailClass = "bounce"
	MailList      MailClass = "list"
)

// ParseState says how well a mail was understood.
type ParseState string

// The parse states.
const (
	ParseOK       ParseState = "ok"
	ParseDegraded ParseState = "degraded"
	ParseFailed   ParseState = "failed"
)
