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
	Chat    struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	Text    string `json:"text"`
	Caption string `json:"caption"`
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
	case message.From == nil || message.From.Bot:
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
		Delivery: strconv.FormatInt(update.ID, 10), Route: &route, Locale: message.From.Language,
		ChatReceived: schemas.ChatReceived{
			Thread: thread, MessageID: place + "/" + id, Text: text,
			User: schemas.ChatUser{
				ID:   strconv.FormatInt(message.From.ID, 10),
				Name: nameOf(message.From.First, message.From.Last),
			},
		},
	})
}
