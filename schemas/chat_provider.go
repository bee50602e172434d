package schemas

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
