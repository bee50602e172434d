package mailbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// AdapterName is this adapter's token in subjects.
const AdapterName = "email"

// EventID is the identity of a message (RFC 9051, section 2.3.1.1): the same
// message always has the same one.
func EventID(account, mailbox string, uidValidity, uid uint32) string {
	sum := sha256.Sum256([]byte(mailbox))
	return fmt.Sprintf("imap:%s:%s:%d:%d", account, hex.EncodeToString(sum[:8]), uidValidity, uid)
}

// EventPrefix is how the ids of all events of a mailbox begin.
func EventPrefix(account, mailbox string) string {
	return strings.TrimSuffix(EventID(account, mailbox, 0, 0), "0:0")
}

// ParseEventID takes the id of an event of the mailbox with that prefix apart.
func ParseEventID(prefix, id string) (uidValidity, uid uint32, ok bool) {
	rest, ours := strings.CutPrefix(id, prefix)
	first, second, cut := strings.Cut(rest, ":")
	if !ours || !cut {
		return 0, 0, false
	}
	validity, err := strconv.ParseUint(first, 10, 32)
	if err != nil {
		return 0, 0, false
	}
	number, err := strconv.ParseUint(second, 10, 32)
	return uint32(validity), uint32(number), err == nil
}
