package schemas

// A ChatReceived is one chat message as a chat door read it. Everything
// in it comes from outside and is tainted.
type ChatReceived struct {
	Provider    string       `json:"provider"`        // "webhook", "cli", …
	Tenant      string       `json:"tenant,omitzero"` // workspace or team
	Channel     string       `json:"channel"`         // the configured channel it came in by
	Thread      string       `json:"thread,omitzero"` // the conversation inside the channel
	MessageID   string       `json:"message_id"`      // the provider's id, unique in the channel
	User        ChatUser     `json:"user,omitzero"`   // who wrote it, as the provider says
	Text        string       `json:"text"`            // the words
	Language    string       `json:"language,omitzero"`
	Attachments []Attachment `json:"attachments,omitzero"`
}

// A ChatUser is the author of a chat message.
type ChatUser struct {
	ID   string `json:"id,omitzero"`
	Name string `json:"name,omitzero"`
}
