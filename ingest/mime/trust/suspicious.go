package trust

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/schemas"
)

// The codes of Suspicious. None proves a deceit; each is a reason to look twice.
const (
	suspiciousFrom       = "multiple_from"           // more than one author, so that programs show different ones
	suspiciousMalformed  = "malformed_from"          // an author whom other programs may read otherwise, or not at all
	suspiciousName       = "display_name_address"    // the name of an author is another address
	suspiciousScripts    = "mixed_scripts"           // letters of several scripts in one word of an author
	suspiciousHomograph  = "homograph_domain"        // a domain of foreign letters that look like Latin ones
	suspiciousReplyTo    = "reply_to_elsewhere"      // answers go to another organization than the author's
	suspiciousAnswers    = "malformed_reply_to"      // a place for answers of which the same holds; it is left out
	suspiciousHidden     = "hidden_text"             // words that a reader does not see
	suspiciousDirection  = "direction_override"      // the order of characters was turned around
	suspiciousProgram    = "executable_attachment"   // an attachment is a program
	suspiciousAttachment = "attachment_type_differs" // an attachment is not what it says
	suspiciousDKIM       = "dkim_disagrees"          // a signature that the server accepted is wrong here
)

// Suspicions returns the codes that apply, in a fixed order. disagrees says that a
// signature which the server accepted is wrong here.
func Suspicions(mail *schemas.EmailReceived, h header.Header, author header.Authors, disagrees bool) []string {
	var found []string
	for _, check := range [...]struct {
		code    string
		applies bool
	}{
		{suspiciousFrom, len(mail.From) > 1 || h.Count("from") > 1},
		{suspiciousMalformed, author.From.Ambiguous || len(mail.From) == 0 && h.First("from") != ""},
		{suspiciousName, slices.ContainsFunc(mail.From, posesAsAnother)},
		{suspiciousScripts, slices.ContainsFunc(mail.From, mixesScripts)},
		{suspiciousHomograph, slices.ContainsFunc(mail.From, isHomograph)},
		{suspiciousReplyTo, repliesElsewhere(mail)},
		{suspiciousAnswers, author.ReplyTo.Ambiguous || len(mail.ReplyTo) == 0 && h.First("reply-to") != ""},
		{suspiciousHidden, mail.Hidden != ""},
		{suspiciousDirection, overridesDirection(h)},
		{suspiciousProgram, slices.ContainsFunc(mail.Attachments, isProgram)},
		{suspiciousAttachment, slices.ContainsFunc(mail.Attachments, isMistyped)},
		{suspiciousDKIM, disagrees},
	} {
		if check.applies {
			found = append(found, check.code)
		}
	}
	return found
}

func posesAsAnother(author schemas.Address) bool {
	for word := range strings.FieldsSeq(strings.Map(addressOnly, author.Name)) {
		if at := strings.IndexByte(word, '@'); at > 0 && domainOf(word) != "" && strings.Contains(domainOf(word), ".") &&
			!strings.EqualFold(strings.Trim(word, "."), author.Address) {
			return true
		}
	}
	return false
}

// addressOnly blanks what stands around an address, and makes the other at
// signs of Unicode plain.
func addressOnly(r rune) rune {
	switch r {
	case '\uff20', '\ufe6b':
		return '@'
	case '<', '>', '(', ')', '[', ']', '"', '\'', ',', ';', ':':
		return ' '
	}
	return r
}

func mixesScripts(author schemas.Address) bool {
	domain := author.Address[strings.LastIndexByte(author.Address, '@')+1:]
	if readable, err := idna.Display.ToUnicode(domain); err == nil {
		domain = readable
	}
	for _, text := range [...]string{author.Name, author.Address, domain} {
		words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
		if slices.ContainsFunc(words, mixed) {
			return true
		}
	}
	return false
}

// mixed tells whether a word has Latin letters beside ones that look like them.
func mixed(word string) bool {
	latin, other := false, false
	for _, r := range word {
		latin = latin || unicode.Is(unicode.Latin, r)
		other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
	}
	return latin && other
}

// homoglyphs are Cyrillic and Greek letters that are drawn like Latin ones.
const homoglyphs = "асеорхуіјѕһԁԛԝгпќѵӏοανιυωτ"

// isHomograph tells whether a label of the domain consists of nothing but homoglyphs.
func isHomograph(author schemas.Address) bool {
	domain, err := idna.Display.ToUnicode(strings.ToLower(author.Address[strings.LastIndexByte(author.Address, '@')+1:]))
	if err != nil {
		return false
	}
	labels := strings.Split(domain, ".")
	if len(labels) > 1 && !charset.IsASCII(labels[len(labels)-1]) {
		return false // a domain of that script altogether
	}
	return slices.ContainsFunc(labels, func(label string) bool {
		return !charset.IsASCII(label) && strings.Trim(label, homoglyphs+"0123456789-") == ""
	})
}

func repliesElsewhere(mail *schemas.EmailReceived) bool {
	if len(mail.From) == 0 {
		return false
	}
	from := domainOf(mail.From[0].Address)
	return slices.ContainsFunc(mail.ReplyTo, func(to schemas.Address) bool {
		domain := domainOf(to.Address)
		return domain != "" && !aligned(domain, from)
	})
}

// overridesDirection looks for the overrides that disguise a name, such as
// "gpj.exe" shown as "exe.jpg". visible has removed them from the event.
func overridesDirection(h header.Header) bool {
	for _, name := range [...]string{"subject", "from"} {
		value := h.First(name)
		if strings.ContainsAny(header.DecodeWords(value[:min(len(value), header.MaxEncoded)], &defect.List{}), "\u202d\u202e") {
			return true
		}
	}
	return false
}

func isProgram(attachment schemas.MailAttachment) bool {
	switch attachment.Sniffed {
	case "application/vnd.microsoft.portable-executable", "application/x-elf", "application/x-mach-binary", "text/x-shellscript":
		return true
	}
	name := strings.ToLower(attachment.Name)
	return slices.ContainsFunc([]string{".exe", ".scr", ".com", ".bat", ".cmd", ".pif", ".js", ".jse", ".vbs", ".vbe", ".wsf", ".hta", ".lnk", ".msi", ".ps1", ".jar"},
		func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// isMistyped tells whether an attachment that says it is an image, a document or a
// text is shown to be something else by its bytes.
func isMistyped(attachment schemas.MailAttachment) bool {
	declared, sniffed := attachment.MediaType, attachment.Sniffed
	kind, _, _ := strings.Cut(declared, "/")
	actual, _, _ := strings.Cut(sniffed, "/")
	switch {
	case sniffed == "" || actual == "text" && sniffed != "text/x-shellscript":
		return false
	case kind == "image", kind == "audio", kind == "video":
		return kind != actual && !(sniffed == "application/ogg" && kind != "image")
	case declared == "application/pdf":
		return sniffed != declared
	case kind == "text":
		return true
	}
	return false
}
