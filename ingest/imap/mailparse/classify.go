package mailparse

import (
	"slices"
	"strings"

	"podium/schemas"
)

// classify says who wrote a mail, from its header and the kind of report that
// it is. X-Auto-Response-Suppress is no sign: people's mail carries it too.
func classify(h header, report string, own bool) schemas.MailClass {
	senderless := strings.ReplaceAll(h.first("return-path"), " ", "") == "<>"
	switch report {
	case "delivery-status":
		return schemas.MailBounce
	case "disposition-notification", "feedback-report":
		return schemas.MailAutoReply
	}
	if senderless && h.has("x-failed-recipients") {
		return schemas.MailBounce
	}
	precedence := strings.ToLower(h.first("precedence"))
	submitted, _, _ := strings.Cut(strings.ToLower(h.first("auto-submitted")), ";")
	submitted = stripComment(strings.TrimSpace(submitted))
	switch {
	case own,
		submitted != "" && submitted != "no", // RFC 3834, section 2
		senderless,                           // RFC 3834, section 2: nobody may answer it
		precedence == "auto_reply", precedence == "auto-reply",
		h.has("x-autoreply"), h.has("x-autorespond"):
		return schemas.MailAutoReply
	}
	if fromList(h) {
		return schemas.MailList
	}
	switch precedence {
	case "list", "bulk", "junk":
		return schemas.MailList
	}
	return schemas.MailHuman
}

// fromList looks for the fields that only list servers write (RFC 2369, RFC 2919).
func fromList(h header) bool {
	return slices.ContainsFunc(h, func(f field) bool {
		switch f.name {
		case "list-id", "list-post", "list-unsubscribe", "list-help", "list-subscribe", "list-owner", "list-archive":
			return true
		}
		return false
	})
}
