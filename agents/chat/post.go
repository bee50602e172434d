package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"podium/bus/backoff"
	"podium/schemas"
)

// maxPause is how long an attempt waits because a provider has asked for it; when
// it has asked for more, the attempt fails and a later one goes on.
const maxPause = 10 * time.Second

// memory bounds how many answers under way are remembered.
const memory = 1024

// A poster writes into the chats of one provider. Its methods may be called by
// several goroutines at once.
type poster interface {
	// split cuts an answer into messages that the provider takes; whole is false
	// when there would be too many.
	split(text string) (pieces []string, whole bool)
	// post sends one message and returns the provider's id of it, if it tells.
	post(ctx context.Context, p *piece) (id string, err error)
	// edit puts other words in the place of a message. It may be repeated.
	edit(ctx context.Context, route *schemas.ChatRoute, id, text string) error
}

// A piece is one message of an answer.
type piece struct {
	route  *schemas.ChatRoute
	text   string
	number int // from 0
	of     int
	effect string
	age    time.Duration // of the message that is answered
}

// newPoster returns nil for a channel whose answers are not posted from here.
func (c *Config) newPoster(channel Channel, client *http.Client) (poster, error) {
	switch channel.Provider {
	case schemas.ProviderSlack:
		if channel.BotToken == "" {
			return nil, errors.New("a channel of slack needs a bot token")
		}
		return &slackPoster{client: client, api: cmp.Or(c.SlackAPI, slackAPI), hooks: cmp.Or(c.SlackHooks, slackHooks), token: channel.BotToken}, nil
	case schemas.ProviderTelegram:
		if channel.BotToken == "" {
			return nil, errors.New("a channel of telegram needs a bot token")
		}
		return &telegramPoster{client: client, api: cmp.Or(c.TelegramAPI, telegramAPI), token: channel.BotToken}, nil
	case schemas.ProviderMattermost:
		if channel.URL == "" {
			return nil, nil //nolint:nilnil // the adapter gives the answer: there is nobody to call and nothing wrong
		}
		server, err := webAddress(channel.URL)
		return &mattermostPoster{client: client, server: server, token: channel.BotToken}, err
	case schemas.ProviderTeams, schemas.ProviderWebhook, "":
		return nil, nil //nolint:nilnil // as above
	}
	return nil, fmt.Errorf("there is no provider %q", channel.Provider)
}

// An answer is what is known of one on its way, and of the questions before it: another
// attempt goes on where the one before has stopped.
type answer struct {
	sync.Mutex
	note   string // the id of the message that shows how far the work is
	asked  int    // the number of the newest question that has begun: no more notes of the time before it
	closed bool   // the answer has begun: no more notes
	effect string // of the answer or the question on its way
	sent   int    // pieces of it
}

// answer returns what is known of the answer to a message.
func (a *Agent) answer(ref string) *answer {
	known, _ := a.answers.GetOrSet(ref, &answer{})
	return known.Value()
}

// A target is one channel at its provider.
type target struct {
	poster poster

	mutex sync.Mutex
	until time.Time // the provider wants no call before
}

// turn waits until the provider takes calls again.
func (t *target) turn(ctx context.Context, now time.Time) error {
	t.mutex.Lock()
	wait := t.until.Sub(now)
	t.mutex.Unlock()
	switch {
	case wait <= 0:
		return nil
	case wait > maxPause:
		return &statusError{status: http.StatusTooManyRequests}
	}
	return backoff.Pause(ctx, wait)
}

// heed remembers how long the provider wants to be left alone.
func (t *target) heed(err error, now time.Time) error {
	cause := err
	if repeatable, ok := errors.AsType[*again](err); ok {
		cause = repeatable.cause
	}
	if status, ok := errors.AsType[*statusError](cause); ok && status.after > 0 {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.until = now.Add(status.after)
	}
	return err
}

// postAnswer sends the pieces that are not out yet. The first takes the place of
// the note, if there is one.
func (a *Agent) postAnswer(ctx context.Context, to *target, route *schemas.ChatRoute, given *arguments, language, effect string) error {
	known := a.answer(given.ReplyRef)
	known.Lock()
	defer known.Unlock()
	if given.Inquiry > 0 {
		known.asked = max(known.asked, given.Inquiry)
	} else {
		known.closed = true
	}
	if known.effect != effect {
		known.effect, known.sent = effect, 0
	}
	pieces, whole := to.poster.split(given.Text)
	if !whole {
		pieces = append(pieces, a.words.Say(language, "longer"))
	}
	for known.sent < len(pieces) {
		now := a.now()
		if err := to.turn(ctx, now); err != nil {
			return err
		}
		p := &piece{
			route: route, text: pieces[known.sent], number: known.sent, of: len(pieces), effect: effect, age: now.Sub(route.Received),
		}
		if err := a.postPiece(ctx, to, known, p); err != nil {
			return to.heed(err, now)
		}
		known.sent++
	}
	return nil
}

func (a *Agent) postPiece(ctx context.Context, to *target, known *answer, p *piece) error {
	if p.number == 0 && known.note != "" {
		err := to.poster.edit(ctx, p.route, known.note, p.text)
		switch {
		case err == nil:
			known.note = ""
			return nil
		case !final(err):
			return &again{err} // an edit may be repeated, so that nothing is in doubt
		}
		known.note = "" // somebody has deleted it
	}
	_, err := to.poster.post(ctx, p)
	return err
}

// Note shows a line about the work under way, in the place of the line before.
// The answer takes its place, and so does a question. A line is of the time after so many
// questions: behind the next one it is not shown any more, and after the answer has begun no line
// is; neither is one for a channel without a poster, nor for a command, whose URL takes few calls.
func (a *Agent) Note(ctx context.Context, channel, ref string, questions int, text string) error {
	to := a.targets[channel]
	if to == nil || ref == "" {
		return nil
	}
	route, err := a.open(channel, ref)
	if err != nil || route.Response != "" || route.User != "" {
		return err
	}
	if pieces, _ := to.poster.split(text); len(pieces) > 1 {
		text = pieces[0]
	}
	known := a.answer(ref)
	known.Lock()
	defer known.Unlock()
	if known.closed || questions < known.asked {
		return nil
	}
	now := a.now()
	if err := to.turn(ctx, now); err != nil {
		return err
	}
	if known.note != "" {
		return to.heed(to.poster.edit(ctx, route, known.note, text), now)
	}
	effect := "note:" + ref[:min(len(ref), 24)]
	if questions > 0 {
		effect += "." + strconv.Itoa(questions) // another message than the one that a question has taken the place of
	}
	known.note, err = to.poster.post(ctx, &piece{route: route, text: text, of: 1, effect: effect})
	return to.heed(err, now)
}

// again hides that nobody knows what became of a call that may be repeated.
type again struct{ cause error }

func (a *again) Error() string { return a.cause.Error() }

// final reports whether another attempt cannot help.
func final(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.permanent()
	}
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.final
}
