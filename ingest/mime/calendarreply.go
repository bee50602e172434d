package mime

import (
	"slices"
	"strings"

	"podium/schemas"
)

// signalCalendarReply marks what a calendar program sends when a person has answered an invitation and written nothing.
const signalCalendarReply = "calendar-reply"

// markCalendarReply has a mail that only answers an invitation start no work: nothing in it asks for anything. Words of the
// person, or a file of another kind, make it a mail like any other.
func markCalendarReply(mail *schemas.EmailReceived) {
	if mail.Class == schemas.MailHuman && isCalendarReply(mail) {
		mail.Class, mail.Signals = schemas.MailAutoReply, append(mail.Signals, signalCalendarReply)
	}
}

func isCalendarReply(mail *schemas.EmailReceived) bool {
	if len(mail.Calendar) == 0 || strings.TrimSpace(mail.Text) != "" {
		return false
	}
	for i := range mail.Calendar {
		switch mail.Calendar[i].Method {
		case "REPLY", "COUNTER", "REFRESH", "DECLINECOUNTER":
		default:
			return false
		}
	}
	return !slices.ContainsFunc(mail.Attachments, func(one schemas.MailAttachment) bool { return one.Sniffed != "text/calendar" })
}
