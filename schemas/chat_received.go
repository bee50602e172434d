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

// A ChatProvider is a protocol that chat messages come in by and answers go out by. It is
// what ChatReceived.Provider and Reply.Provider say of messages that come by chat.
type ChatProvider string

// The chat providers.
const (
	ProviderWebhook    ChatProvider = "webhook"    // any sender that speaks Standard Webhooks 1.0, or bears a token
	ProviderSlack      ChatProvider = "slack"      // Events API and slash commands
	ProviderMattermost ChatProvider = "mattermost" // outgoing webhooks and slash commands
	ProviderTelegram   ChatProvider = "telegram"   // Bot API webhook
	ProviderTeams      ChatProvider = "teams"      // outgoing webhook; takes answers in the response alone
)

// ChatProviders returns all of them. Which places know each one stands in CONTRIBUTING.md,
// and TestRecipes in cmd walks them.
func ChatProviders() []ChatProvider {
	return []ChatProvider{ProviderWebhook, ProviderSlack, ProviderMattermost, ProviderTelegram, ProviderTeams}
}
