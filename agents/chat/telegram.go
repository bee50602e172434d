package chat

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"podium/schemas"
)

const (
	telegramAPI   = "https://api.telegram.org"
	telegramLimit = 4096 // UTF-16 code units of a message (Bot API, "sendMessage")
)

// telegramPoster posts by sendMessage, without a parse mode: every character is itself.
type telegramPoster struct {
	client *http.Client
	api    string
	token  string
}

func (*telegramPoster) split(text string) ([]string, bool) {
	return split(text, telegramLimit, utf16Units)
}

type telegramMessage struct {
	Chat    string           `json:"chat_id"`
	Message int64            `json:"message_id,omitzero"` // editMessageText
	Topic   int64            `json:"message_thread_id,omitzero"`
	Text    string           `json:"text"`
	Reply   *telegramReply   `json:"reply_parameters,omitzero"`
	Preview telegramPreviews `json:"link_preview_options"`
}

type telegramReply struct {
	Message int64 `json:"message_id"`
	Without bool  `json:"allow_sending_without_reply"` // the message may have been deleted
}

// telegramPreviews keeps Telegram from fetching what an answer names.
type telegramPreviews struct {
	Disabled bool `json:"is_disabled"`
}

func (t *telegramPoster) post(ctx context.Context, p *piece) (string, error) {
	message := telegramMessage{Chat: p.route.Place, Text: p.text, Preview: telegramPreviews{Disabled: true}}
	message.Topic, _ = strconv.ParseInt(p.route.Thread, 10, 64) // none is 0
	if answered, err := strconv.ParseInt(p.route.Message, 10, 64); err == nil && p.number == 0 {
		message.Reply = &telegramReply{Message: answered, Without: true}
	}
	return t.call(ctx, "sendMessage", &message)
}

func (t *telegramPoster) edit(ctx context.Context, route *schemas.ChatRoute, id, text string) error {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return err
	}
	_, err = t.call(ctx, "editMessageText", &telegramMessage{
		Chat: route.Place, Message: number, Text: text, Preview: telegramPreviews{Disabled: true},
	})
	if told, ok := errors.AsType[*refusal](err); ok && told.code == telegramUnmodified {
		return nil // an earlier attempt has done it
	}
	return err
}

// telegramUnmodified is what Telegram says of an edit that changes nothing.
const telegramUnmodified = "message is not modified"

// call does one call of the Bot API and returns the message's id. The token is
// part of the URL, which no error names.
func (t *telegramPoster) call(ctx context.Context, method string, message *telegramMessage) (string, error) {
	body, err := callJSON(ctx, t.client, http.MethodPost, t.api+"/bot"+t.token+"/"+method, "", message)
	var answer struct {
		OK          bool   `json:"ok"`
		Code        int    `json:"error_code"`
		Description string `json:"description"`
		Parameters  struct {
			After int64 `json:"retry_after"`
		} `json:"parameters"`
		Result struct {
			Message int64 `json:"message_id"`
		} `json:"result"`
	}
	if status, failed := errors.AsType[*statusError](err); failed {
		if schemas.Unmarshal(body, &answer) == nil && status.after == 0 {
			status.after = time.Duration(answer.Parameters.After) * time.Second
		}
		if strings.Contains(answer.Description, telegramUnmodified) {
			return "", &refusal{code: telegramUnmodified, final: true}
		}
		return "", status
	}
	if err != nil {
		return "", err
	}
	if err := schemas.Unmarshal(body, &answer); err != nil {
		return "", &unknownError{err}
	}
	if !answer.OK {
		return "", &refusal{code: strconv.Itoa(answer.Code), final: answer.Code >= 400 && answer.Code < 429}
	}
	return strconv.FormatInt(answer.Result.Message, 10), nil
}
