package chat

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"podium/ingest/webhook"
	"podium/schemas"
)

// headerTelegramSecret carries the secret_token of setWebhook (Bot API, "setWebhook").
const headerTelegramSecret = "X-Telegram-Bot-Api-Secret-Token"

// telegramSecret is what setWebhook allows as a secret_token.
var telegramSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// A telegram takes the updates of one bot.
type telegram struct {
	ordinary
	secrets webhook.SharedSecrets
}

func newTelegram(secrets []string) (*telegram, error) {
	for i, secret := range secrets {
		if !telegramSecret.MatchString(secret) {
			return nil, errors.New("secret " + strconv.Itoa(i+1) + " may have letters, digits, _ and -, at most 256")
		}
	}
	shared, err := webhook.NewSharedSecrets(secrets)
	return &telegram{secrets: shared}, err
}

// Claims implements Provider.
func (t *telegram) Claims(header http.Header, _ time.Time) bool {
	return t.secrets.Known(header.Get(headerTelegramSecret))
}

// Verify implements Provider: the secret token stands in a header.
func (t *telegram) Verify(_ []byte, header http.Header, now time.Time) bool {
	return t.Claims(header, now)
}

// A telegramUpdate is what the Bot API posts ("Update"); what else it can hold is ignored.
type telegramUpdate struct {
	ID      int64            `json:"update_id"`
	Message *telegramMessage `json:"message"`
	Edited  *telegramMessage `json:"edited_message"`
}

type telegramMessage struct {
	ID    int64 `json:"message_id"`
	Topic int64 `json:"message_thread_id"`
	// InTopic says that the thread is one of a forum, which answers can be sent to.
	InTopic bool          `json:"is_topic_message"`
	From    *telegramUser `json:"from"`
	Chat    telegramChat  `json:"chat"`
	// SenderChat is who speaks when it is no user: the group itself, for its anonymous administrator, or a channel.
	SenderChat *telegramChat `json:"sender_chat"`
	// Forwarded says that a post of the linked channel has come by itself.
	Forwarded bool   `json:"is_automatic_forward"`
	Text      string `json:"text"`
	Caption   string `json:"caption"`
}

type telegramChat struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// The accounts that stand as from where a message has no user (Bot API, "Message").
const (
	telegramService    = 777000     // of posts that come from a linked channel
	telegramGroupBot   = 1087968824 // of a group's anonymous administrators
	telegramChannelBot = 136817688  // of people who speak as a channel
)

// anonymous reports whether an administrator of the group speaks in its name. Others who speak in the name of a chat are no
// persons that can be known.
func (m *telegramMessage) anonymous() bool {
	return m.SenderChat != nil && m.SenderChat.ID == m.Chat.ID && m.Chat.ID != 0 && !m.Forwarded && (m.From == nil || m.From.ID == telegramGroupBot)
}

// ofBot reports whether no person speaks: a bot, a linked channel, or whoever speaks as a channel.
func (m *telegramMessage) ofBot() bool {
	switch {
	case m.anonymous():
		return false
	case m.From == nil || m.From.Bot || m.Forwarded || m.SenderChat != nil:
		return true
	}
	return m.From.ID == telegramService || m.From.ID == telegramChannelBot
}

// speaker returns who has written. An anonymous administrator is the group that they speak for.
func (m *telegramMessage) speaker() schemas.ChatUser {
	if m.anonymous() {
		return schemas.ChatUser{ID: strconv.FormatInt(m.SenderChat.ID, 10), Name: nameOf(m.SenderChat.Title)}
	}
	return schemas.ChatUser{ID: strconv.FormatInt(m.From.ID, 10), Name: nameOf(m.From.First, m.From.Last)}
}

// language returns that of the user's app, which an anonymous administrator does not show.
func (m *telegramMessage) language() string {
	if m.From == nil {
		return ""
	}
	return m.From.Language
}

type telegramUser struct {
	ID       int64  `json:"id"`
	Bot      bool   `json:"is_bot"`
	First    string `json:"first_name"`
	Last     string `json:"last_name"`
	Language string `json:"language_code"`
}

// Normalize implements Provider.
func (*telegram) Normalize(body []byte, header http.Header) ([]Message, error) {
	if !isJSON(header) {
		return nil, problemMediaType()
	}
	var update telegramUpdate
	if err := readJSON(body, &update); err != nil {
		return nil, err
	}
	if update.ID == 0 {
		return nil, errors.New("an update has no update_id")
	}
	message := cmp.Or(update.Message, update.Edited)
	if message == nil {
		return nothing(ignoredType, false)
	}
	text := cmp.Or(strings.TrimSpace(message.Text), strings.TrimSpace(message.Caption))
	switch {
	case message.ofBot():
		return nothing(ignoredBot, false)
	case text == "":
		return nothing(ignoredEmpty, false)
	case message.Chat.ID == 0 || message.ID == 0:
		return nil, errors.New("a message has no chat or no message_id")
	}
	place, id := strconv.FormatInt(message.Chat.ID, 10), strconv.FormatInt(message.ID, 10)
	route, thread := schemas.ChatRoute{Place: place, Message: id}, place
	if message.Topic != 0 {
		thread = place + "/" + strconv.FormatInt(message.Topic, 10)
	}
	if message.Topic != 0 && message.InTopic {
		route.Thread = strconv.FormatInt(message.Topic, 10)
	}
	return single(Message{
		Delivery: strconv.FormatInt(update.ID, 10), Route: &route, Locale: message.language(),
		ChatReceived: schemas.ChatReceived{
			Thread: thread, MessageID: place + "/" + id, Text: text,
			User: message.speaker(),
		},
	})
}
