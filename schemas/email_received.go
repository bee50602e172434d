package schemas

import (
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// An EmailReceived is one mail as the mail adapter read it. Everything in it
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
	// Signals are the marks by which Class was decided, and others that machines
	// leave: "auto-submitted", "list-id". Suppress says that the sender wants no
	// automatic answer although a person may have written it.
	Signals  []string `json:"signals,omitzero"`
	Suppress bool     `json:"suppress_answer,omitzero"`
	// Thread is the root of the conversation where References and In-Reply-To do
	// not name it: the returned mail of a bounce or a signed address of ours does.
	Thread string `json:"thread,omitzero"`
	// Answers is the email of ours that it is a reply to, by its In-Reply-To alone, and that is proven to be ours.
	Answers    *Letter  `json:"answers,omitzero"`
	Auth       MailAuth `json:"auth,omitzero"`
	Suspicious []string `json:"suspicious,omitzero"` // codes of what deceives, "reply_to_elsewhere"
	// Origin is what Auth comes to, and AnswerTo whom an answer goes to: the writer, or
	// where a writer wants it who is believed.
	Origin   MailOrigin      `json:"origin,omitzero"`
	AnswerTo Address         `json:"answer_to,omitzero"`
	Bounce   *Bounce         `json:"bounce,omitzero"`
	Calendar []CalendarEntry `json:"calendar,omitzero"`
	// Signature is what a mail program puts below the words by itself.
	Signature string `json:"signature,omitzero"`
	// Parse says whether the mail was understood; Problems says what was not.
	Parse       ParseState       `json:"parse"`
	Problems    []string         `json:"problems,omitzero"`
	Attachments []MailAttachment `json:"attachments,omitzero"`
	Raw         Artifact         `json:"raw"`
}

// A Letter is a mail that Podium has sent: the answer of a run, or a question to a person in it.
type Letter struct {
	Run     string `json:"run"`
	Inquiry int    `json:"inquiry,omitzero"` // the number of the inquiry; 0 is the answer
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

// A MailAttachment is an attachment of a mail, with what its bytes say.
type MailAttachment struct {
	Attachment
	// Written is the name as its author wrote it, at most 998 bytes of it, when Name
	// is only a part of that: it held folders or was too long. It is no path.
	Written string `json:"written_name,omitzero"`
	// Sniffed is the media type that its first bytes show; empty when they show none.
	Sniffed string `json:"sniffed_type,omitzero"`
	// Entries are what an archive says that it holds, at most 100. Archives are
	// never unpacked. Entry names are data, never paths.
	Entries []ArchiveEntry `json:"entries,omitzero"`
	// Messages are an attached mail and the ones inside it, in their order.
	Messages []AttachedMail `json:"messages,omitzero"`
}

// An ArchiveEntry is a file in an archive, as the archive describes it.
type ArchiveEntry struct {
	Name      string `json:"name"`
	Size      int64  `json:"size"` // bytes, unpacked
	Encrypted bool   `json:"encrypted,omitzero"`
}

// An AttachedMail is a mail inside a mail, read to a depth of three. Nothing in
// it was authenticated.
type AttachedMail struct {
	Depth       int            `json:"depth"` // 1 is attached to the mail itself
	MessageID   string         `json:"message_id,omitzero"`
	From        []Address      `json:"from,omitzero"`
	Subject     string         `json:"subject,omitzero"`
	Date        time.Time      `json:"date,omitzero"`
	Text        string         `json:"text,omitzero"` // its beginning
	Attachments []AttachedPart `json:"attachments,omitzero"`
}

// An AttachedPart is an attachment of an attached mail; its bytes are only in
// the attached mail itself.
type AttachedPart struct {
	Name      string `json:"name,omitzero"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`
}

// A MailAuth says whether somebody trusted vouches for a mail's origin. Pass
// without Aligned proves an origin, but not that of From.
type MailAuth struct {
	Verdict AuthVerdict `json:"verdict"`
	Domain  string      `json:"domain,omitzero"` // that was authenticated, or failed to be
	Method  string      `json:"method,omitzero"` // dmarc, dkim or spf
	Aligned bool        `json:"aligned"`         // the domain stands for From (RFC 7489, section 3.1, relaxed)
	Local   bool        `json:"local,omitzero"`  // found here, and not by the receiving server
}

// MailOrigin says how far it is known that a mail is of whom it says.
type MailOrigin string

// The origins.
const (
	OriginProven    MailOrigin = "proven"    // somebody trusted vouches for its only author
	OriginUnproven  MailOrigin = "unproven"  // nobody vouches for it, though somebody would be believed
	OriginRefuted   MailOrigin = "refuted"   // somebody trusted says that it is not
	OriginUnchecked MailOrigin = "unchecked" // nobody is believed about it
)

// AuthVerdict is the outcome of authentication.
type AuthVerdict string

// The verdicts. None says that nobody trusted has said anything.
const (
	AuthPass AuthVerdict = "pass"
	AuthFail AuthVerdict = "fail"
	AuthNone AuthVerdict = "none"
)

// A Bounce is a report on a mail that was sent (RFC 3464, RFC 6533).
type Bounce struct {
	RecipientStatus
	MessageID  string            `json:"message_id,omitzero"`  // of the mail it reports on
	EnvelopeID string            `json:"envelope_id,omitzero"` // Original-Envelope-Id (RFC 3461)
	Others     []RecipientStatus `json:"others,omitzero"`      // further recipients, at most 100
}

// A RecipientStatus is what became of a mail for one recipient.
type RecipientStatus struct {
	Recipient  string `json:"recipient,omitzero"`  // an address
	Action     string `json:"action,omitzero"`     // failed, delayed, delivered, relayed or expanded
	Status     string `json:"status,omitzero"`     // RFC 3463, "5.1.1"
	Diagnostic string `json:"diagnostic,omitzero"` // of the server that refused it
}

// A CalendarEntry is what an invitation says (RFC 5545, RFC 5546). A time is a date, "2026-01-31", a local time,
// "2026-01-31T12:00:00", one in UTC, with Z, or, in a zone that only the invitation defines, one with its offset. The end
// of a date is the day after the last. An end that the invitation does not state follows from its duration, or is that of an
// event without one: the day of a date, else the start.
type CalendarEntry struct {
	Method   string `json:"method,omitzero"` // REQUEST, REPLY, CANCEL, …
	UID      string `json:"uid,omitzero"`
	Sequence int    `json:"sequence,omitzero"`
	Status   string `json:"status,omitzero"` // TENTATIVE, CONFIRMED, CANCELLED, …
	Answer   string `json:"answer,omitzero"` // of a REPLY or a COUNTER: ACCEPTED, DECLINED, TENTATIVE, …
	Start    string `json:"start,omitzero"`
	End      string `json:"end,omitzero"`
	Zone     string `json:"zone,omitzero"`     // of Start: its IANA name, else as it is written
	EndZone  string `json:"end_zone,omitzero"` // of End, where it is another
	// Recurrence has the RRULE, RDATE, EXDATE and EXRULE lines of a series, as they are written.
	Recurrence []string `json:"recurrence,omitzero"`
	// RecurrenceID is the start of the one occurrence of a series that the entry is about; RecurrenceRange is THISANDFUTURE when
	// it is about all later ones too.
	RecurrenceID    string `json:"recurrence_id,omitzero"`
	RecurrenceRange string `json:"recurrence_range,omitzero"`
	Summary         string `json:"summary,omitzero"`
}

// MailClass says who wrote a mail; only a human gets an automatic answer (RFC 3834).
type MailClass string

// The classes of mail.
const (
	MailHuman     MailClass = "human"
	MailAutoReply MailClass = "autoreply"
	MailBounce    MailClass = "bounce"
	MailList      MailClass = "list"
	MailUnknown   MailClass = "unknown" // nothing in the mail says who wrote it
)

// ParseState says how well a mail was understood.
type ParseState string

// The parse states.
const (
	ParseOK       ParseState = "ok"
	ParseDegraded ParseState = "degraded"
	ParseFailed   ParseState = "failed"
)

// Mailbox returns what all spellings of the address of one mailbox have in common: no upper case, no quotes around the local part, nothing from
// a plus on (RFC 5233 calls it the detail), the domain as the DNS writes it, and no marks where the provider ignores them. One person can write
// from any number of such addresses.
func Mailbox(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	local, domain := strings.Trim(address[:at], `"`), strings.TrimRight(address[at+1:], ".")
	if plus := strings.IndexByte(local, '+'); plus > 0 {
		local = local[:plus]
	}
	if ascii, err := idna.Punycode.ToASCII(domain); err == nil {
		domain = ascii
	}
	switch domain {
	case "gmail.com", "googlemail.com":
		local, domain = strings.ReplaceAll(local, ".", ""), "gmail.com"
	case "proton.me", "protonmail.com", "pm.me":
		local, domain = strings.NewReplacer(".", "", "-", "", "_", "").Replace(local), "proton.me"
	}
	return local + "@" + domain
}

// IsSamePerson reports whether two addresses may be those of one person: their mailboxes are the same, or differ only by sub-domains of one
// organization. It is for keeping a person from deciding about their own request, and proves nobody's identity.
func IsSamePerson(one, other string) bool {
	one, other = Mailbox(one), Mailbox(other)
	if one == other {
		return one != ""
	}
	name, domain, is := strings.Cut(one, "@")
	otherName, otherDomain, isToo := strings.Cut(other, "@")
	return is && isToo && name != "" && name == otherName && inOneOrganization(domain, otherDomain)
}

// inOneOrganization reports whether one domain is a sub-domain of the other, or both are sub-domains of one that an organization registers.
func inOneOrganization(one, other string) bool {
	if strings.HasSuffix(one, "."+other) || strings.HasSuffix(other, "."+one) {
		return true
	}
	labels, others := strings.Split(one, "."), strings.Split(other, ".")
	common := 0
	for common < min(len(labels), len(others)) && labels[len(labels)-1-common] == others[len(others)-1-common] {
		common++
	}
	if common < 2 {
		return false
	}
	country := len(labels[len(labels)-1]) == 2
	return common > 2 || !country || !isRegistry(labels[len(labels)-2])
}

// isRegistry reports whether organizations register below a second-level domain of a country, such as co in co.uk. The list of public suffixes
// changes over time, and a decision must not.
func isRegistry(label string) bool {
	switch label {
	case "ac", "co", "com", "edu", "gob", "gouv", "gov", "go", "gv", "ltd", "mil", "ne", "net", "nhs", "nom", "or", "org", "plc", "sch":
		return true
	}
	return false
}
