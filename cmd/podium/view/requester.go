package view

import (
	"cmp"

	"podium/schemas"
)

// A Requester is who has begun a run, as programs read it.
type Requester struct {
	Name    string `json:"name,omitzero"`
	Address string `json:"address,omitzero"` // by mail
	User    string `json:"user,omitzero"`    // by chat: the provider's id
	Channel string `json:"channel"`          // email, chat or agent
	Program string `json:"program,omitzero"` // the agent that has asked, of channel agent
	// Vouched says that a mail server confirms the address, or that a chat has signed who it is. Origin is the verdict about a mail.
	Vouched bool               `json:"vouched"`
	Origin  schemas.MailOrigin `json:"origin,omitzero"`
}

// RequesterOf returns who has written a message that has begun a run.
func RequesterOf(message *schemas.Incoming) Requester {
	made := Requester{Channel: message.Channel, Origin: message.Origin}
	if author := message.Author; author != nil {
		plain := schemas.RemoveControls
		made.Name, made.Address, made.User = plain(author.Name), plain(author.Address), plain(author.User)
	}
	if message.Upstream != nil {
		made.Program = message.Upstream.From
	}
	made.Vouched = message.Origin == schemas.OriginProven || message.HasSignedUser()
	return made
}

// Line names a requester in a table.
func (r *Requester) Line() string {
	name := Line(cmp.Or(r.Address, r.User, r.Name, r.Program, r.Channel), shortLength)
	switch {
	case r.Channel != schemas.ChannelEmail:
		return name
	case r.Vouched:
		return name + " (confirmed)"
	}
	return name + " (unconfirmed)"
}
