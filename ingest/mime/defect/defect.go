// Package defect names what can be wrong with the form of a mail. A list of
// defects is what an event says in Problems; none names content, so all may be
// logged.
package defect

import "slices"

// The defects of a mail, as an event says them. They name no content, so that they may be logged.
const (
	Empty             = "there is nothing in the mail"
	NoHeader          = "the mail has no header"
	HeaderTooLarge    = "the header is too large; the rest of it was left out"
	NoField           = "a header line is no field"
	NoBlankLine       = "the blank line after the header is missing"
	NoFrom            = "there is no readable From address"
	DuplicateField    = "a field that may stand once stands several times"
	AddressList       = "an address list is malformed"
	TooManyAddresses  = "there are too many addresses; the rest was left out"
	Date              = "the Date field is unreadable"
	ContentType       = "a Content-Type is malformed"
	NoBoundary        = "a multipart has no boundary parameter"
	EncodedMultipart  = "a multipart is encoded as a whole"
	NoClosingBoundary = "a closing boundary is missing"
	NoParts           = "a multipart has no parts"
	TooDeep           = "multiparts are nested too deeply; the inner ones were kept as an attachment"
	TooManyParts      = "there are too many parts; the rest was left out"
	TransferEncoding  = "a transfer encoding is unknown"
	Base64            = "base64 data is malformed"
	WordsBelowBase64  = "words below base64 data were left out"
	QuotedPrintable   = "quoted-printable data is malformed"
	UUEncode          = "uuencoded data is malformed"
	Charset           = "a character set is unknown"
	Characters        = "characters do not fit the declared character set"
	FieldTooLong      = "a subject or a name is too long; the rest of it was left out"
	AttachmentName    = "the name of an attachment is a path or too long; a part of it was taken"
	TextTooLong       = "the text is too long; the rest was left out"
	TNEF              = "a winmail.dat attachment was not unpacked"
	Truncated         = "the mail is larger than the limit; only its beginning was read"
	Internal          = "the parser failed on this mail"
	TooManyReferences = "there are too many References; the middle ones were left out"
	EncodedWord       = "an encoded word is malformed"

	TooManyInvitations = "there are too many calendar entries; the rest was left out"
	InvitationCut      = "a calendar is cut off"
	InvitationTime     = "a time of a calendar entry is unreadable"
	InvitationZone     = "the time zone of a calendar entry is unknown"
	InvitationEnds     = "a calendar entry ends before it begins"
	InvitationSeries   = "the rules of a series are too long; the rest was left out"
)

const maxNames = 20

// List collects what is wrong with a mail, each thing once.
type List struct {
	Names []string
	// Sets are the character sets that the mail names, in their order. They are tried for what names none, or a wrong one.
	Sets []string
}

const maxSets = 8

// AddSet adds a character set that the mail names, unless it is there already or there are too many.
func (p *List) AddSet(label string) {
	if len(p.Sets) < maxSets && !slices.Contains(p.Sets, label) {
		p.Sets = append(p.Sets, label)
	}
}

// Add adds a defect, unless it is there already or there are too many.
func (p *List) Add(defect string) {
	if len(p.Names) < maxNames && !slices.Contains(p.Names, defect) {
		p.Names = append(p.Names, defect)
	}
}
