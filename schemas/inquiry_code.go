package schemas

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"strings"
)

// crockford has no letter that is easily taken for a digit or another letter.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

var inquiryCode = regexp.MustCompile(`(?i)\bASK-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b`)

// InquiryCode returns the short code by which people recognize an inquiry, such as ASK-7K3M-2XPD. It is no secret: it keeps a reply to one
// question from deciding another.
func InquiryCode(run string, inquiry int) string {
	sum := sha256.Sum256([]byte("code " + InquiryID(run, inquiry)))
	code := crockford.EncodeToString(sum[:5])
	return "ASK-" + code[:4] + "-" + code[4:]
}

// InquiryCodes returns the codes that stand in a text, in upper case, in their order.
func InquiryCodes(text string) []string {
	codes := inquiryCode.FindAllString(text, -1)
	for i := range codes {
		codes[i] = strings.ToUpper(codes[i])
	}
	return codes
}
