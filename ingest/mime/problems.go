package mime

import "slices"

// The problems of a mail. They name no content, so that they may be logged.
const (
	problemEmpty        = "there is nothing in the mail"
	problemHeader       = "the mail has no header"
	problemHeaderLarge  = "the header is too large; the rest of it was left out"
	problemHeaderLine   = "a header line is no field"
	problemHeaderEnd    = "the blank line after the header is missing"
	problemFrom         = "there is no readable From address"
	problemDuplicate    = "a field that may stand once stands several times"
	problemAddress      = "an address list is malformed"
	problemAddresses    = "there are too many addresses; the rest was left out"
	problemDate         = "the Date field is unreadable"
	problemType         = "a Content-Type is malformed"
	problemBoundary     = "a multipart has no boundary parameter"
	problemEncoded      = "a multipart is encoded as a whole"
	problemUnclosed     = "a closing boundary is missing"
	problemNoParts      = "a multipart has no parts"
	problemDepth        = "multiparts are nested too deeply; the inner ones were kept as an attachment"
	problemParts        = "there are too many parts; the rest was left out"
	problemTransfer     = "a transfer encoding is unknown"
	problemBase64       = "base64 data is malformed"
	problemBelow        = "words below base64 data were left out"
	problemQuoted       = "quoted-printable data is malformed"
	problemUUEncode     = "uuencoded data is malformed"
	problemCharset      = "a character set is unknown"
	problemCharacters   = "characters do not fit the declared character set"
	problemWords        = "a subject or a name is too long; the rest of it was left out"
	problemName         = "the name of an attachment is a path or too long; a part of it was taken"
	problemText         = "the text is too long; the rest was left out"
	problemTNEF         = "a winmail.dat attachment was not unpacked"
	problemTruncated    = "the mail is larger than the limit; only its beginning was read"
	problemInternal     = "the parser failed on this mail"
	problemReferences   = "there are too many References; the middle ones were left out"
	problemEncodedWords = "an encoded word is malformed"
)

const maxProblems = 20

// problems collects what is wrong with a mail, each thing once.
type problems struct{ list []string }

func (p *problems) add(problem string) {
	if len(p.list) < maxProblems && !slices.Contains(p.list, problem) {
		p.list = append(p.list, problem)
	}
}
