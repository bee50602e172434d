// Package defect names what can be wrong with the form of a mail. A list of
// defects is what an event says in Problems; none names content, so all may be
// logged.
package defect

import "slices"

// The problems of a mail. They name no content, so that they may be logged.
const (
	ProblemEmpty        = "there is nothing in the mail"
	ProblemHeader       = "the mail has no header"
	ProblemHeaderLarge  = "the header is too large; the rest of it was left out"
	ProblemHeaderLine   = "a header line is no field"
	ProblemHeaderEnd    = "the blank line after the header is missing"
	ProblemFrom         = "there is no readable From address"
	ProblemDuplicate    = "a field that may stand once stands several times"
	ProblemAddress      = "an address list is malformed"
	ProblemAddresses    = "there are too many addresses; the rest was left out"
	ProblemDate         = "the Date field is unreadable"
	ProblemType         = "a Content-Type is malformed"
	ProblemBoundary     = "a multipart has no boundary parameter"
	ProblemEncoded      = "a multipart is encoded as a whole"
	ProblemUnclosed     = "a closing boundary is missing"
	ProblemNoParts      = "a multipart has no parts"
	ProblemDepth        = "multiparts are nested too deeply; the inner ones were kept as an attachment"
	ProblemParts        = "there are too many parts; the rest was left out"
	ProblemTransfer     = "a transfer encoding is unknown"
	ProblemBase64       = "base64 data is malformed"
	ProblemBelow        = "words below base64 data were left out"
	ProblemQuoted       = "quoted-printable data is malformed"
	ProblemUUEncode     = "uuencoded data is malformed"
	ProblemCharset      = "a character set is unknown"
	ProblemCharacters   = "characters do not fit the declared character set"
	ProblemWords        = "a subject or a name is too long; the rest of it was left out"
	ProblemName         = "the name of an attachment is a path or too long; a part of it was taken"
	ProblemText         = "the text is too long; the rest was left out"
	ProblemTNEF         = "a winmail.dat attachment was not unpacked"
	ProblemTruncated    = "the mail is larger than the limit; only its beginning was read"
	ProblemInternal     = "the parser failed on this mail"
	ProblemReferences   = "there are too many References; the middle ones were left out"
	ProblemEncodedWords = "an encoded word is malformed"
)

const maxProblems = 20

// Problems collects what is wrong with a mail, each thing once.
type Problems struct{ List []string }

func (p *Problems) Add(problem string) {
	if len(p.List) < maxProblems && !slices.Contains(p.List, problem) {
		p.List = append(p.List, problem)
	}
}
