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

// Answered returns the letter that a mail answers: the newest which it
// names and known proves to be ours; nil is none, and then its thread says where it
// belongs. A bounce names the letter that it reports on. A mail program may make any
// thread of it, and leave ids out: one of ours is enough.
func Answered(mail *schemas.EmailReceived, known func(messageID string) (letter schemas.Letter, ours bool)) *schemas.Letter {
	if known == nil {
		return nil
	}
	named := []string{mail.InReplyTo}
	if mail.Bounce != nil {
		named = []string{mail.Bounce.MessageID, mail.InReplyTo}
	}
	for _, id := range slices.Backward(mail.References) {
		named = append(named, id)
	}
	for _, id := range named {
		if letter, ours := known(id); ours {
			return &letter
		}
	}
	return nil
}

// Session returns the session that a letter of ours leads to; "" when there is none.
func Session(letter *schemas.Letter) string {
	if letter == nil {
		return ""
	}
	session, _, err := schemas.ParseRunID(letter.Run)
	if err != nil {
		return ""
	}
	return session
}
