package mime

import (
	"cmp"
	"slices"
	"strings"

	"podium/schemas"
)

// PartitionKey names the conversation that a mail belongs to, from the mail
// alone: the oldest id of References, else In-Reply-To, else what a signed
// address of ours stands for, else its own Message-ID, else the SHA-256 of its
// bytes. A bounce belongs to the conversation of the mail that it reports on. No
// mail has the key of a conversation that another adapter has begun.
func PartitionKey(mail *schemas.EmailReceived) string {
	key := conversation(mail)
	if strings.Contains(key, "/") {
		return "mail/" + key // the keys of other adapters hold one too, and the sender of a mail chooses its ids
	}
	return key
}

func conversation(mail *schemas.EmailReceived) string {
	switch {
	case mail.Class == schemas.MailBounce && mail.Thread != "":
		return mail.Thread
	case len(mail.References) > 0:
		return mail.References[0]
	}
	return cmp.Or(mail.InReplyTo, mail.Thread, mail.MessageID, mail.Raw.SHA256)
}

// Session returns the session that a mail answers: that of the newest letter which it
// names and known proves to be ours. "" is none, and then its thread says where it
// belongs. A bounce names the letter that it reports on. A mail program may make any
// thread of it, and leave ids out: one of ours is enough.
func Session(mail *schemas.EmailReceived, known func(messageID string) (session string, ours bool)) string {
	if known == nil {
		return ""
	}
	named := []string{mail.InReplyTo}
	if mail.Bounce != nil {
		named = []string{mail.Bounce.MessageID, mail.InReplyTo}
	}
	for _, id := range slices.Backward(mail.References) {
		named = append(named, id)
	}
	for _, id := range named {
		if session, ours := known(id); ours {
			return session
		}
	}
	return ""
}
