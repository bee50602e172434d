package schemas

import "time"

// A ChatReceived is one chat message as a chat adapter read it. Everything
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
	// ReplyRef is a sealed ChatRoute: only the agent that delivers answers can open it.
	ReplyRef string `json:"reply_ref,omitzero"`
}

// A ChatUser is the author of a chat message.
type ChatUser struct {
	ID   string `json:"id,omitzero"`
	Name string `json:"name,omitzero"`
}

// A ChatRoute is what it takes to answer a message at its provider. It is on the
// ledger only sealed, as a ReplyRef: its response URL lets anybody answer.
type ChatRoute struct {
	Place    string    `json:"place,omitzero"`    // the provider's id of the channel or chat
	Thread   string    `json:"thread,omitzero"`   // the provider's id of the thread in it
	Message  string    `json:"message,omitzero"`  // the provider's id of the message that is answered
	User     string    `json:"user,omitzero"`     // whoever alone may read the answer
	Response string    `json:"response,omitzero"` // URL that takes answers for a while, without a token
	Received time.Time `json:"received"`          // when the adapter took the message
}
