package mail

import (
	_ "embed"
	"errors"
	"net"
	"strconv"
	"syscall"

	"podium/schemas/sentences"
)

// wordsFile holds the sentences for people.
//
//go:embed words.json
var wordsFile []byte

// A voice says what becomes of one letter, in the language of whoever it is for.
type voice struct {
	words    sentences.Catalog
	language string
	question bool // the letter asks something; else it is an answer
}

func (v voice) say(key string, places ...string) string {
	about := "answer."
	if v.question {
		about = "question."
	}
	return v.words.Say(v.language, about+key, places...)
}

// trouble says why a letter was not sent, or that nobody knows whether it was.
func (v voice) trouble(err error) string {
	if refused, is := errors.AsType[*replyError](err); is {
		return v.refusal(refused)
	}
	if limited, is := errors.AsType[*limitError](err); is {
		if limited.peer {
			return v.say("budget", "{seconds}", inSeconds(limited.wait))
		}
		return v.words.Say(v.language, "rate", "{seconds}", inSeconds(limited.wait))
	}
	if _, unknown := errors.AsType[*unknownError](err); unknown {
		return v.say("unconfirmed", "{said}", causeOf(err))
	}
	if name, is := errors.AsType[*net.DNSError](err); is && name.IsNotFound {
		return v.say("host_unknown", "{said}", causeOf(err))
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return v.say("connection_refused", "{said}", causeOf(err))
	}
	return v.say("unsent", "{said}", causeOf(err))
}

// causeOf is what the resolver, the network or TLS says of a failure, on one line and within maxSentence, in brackets.
func causeOf(err error) string {
	if said := sentence(err.Error()); said != "" {
		return " (" + said + ")"
	}
	return ""
}

func (v voice) refusal(refused *replyError) string {
	key, said := "later", ""
	switch {
	case refused.code >= 500 && refused.stage == connecting:
		key = "denied"
	case refused.final() && refused.stage == naming:
		key = "recipient_refused"
	case refused.final():
		key = "refused"
	}
	if refused.said != "" {
		said = ": " + refused.said
	}
	return v.say(key, "{code}", strconv.Itoa(refused.code), "{said}", said)
}
