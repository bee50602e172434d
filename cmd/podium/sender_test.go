package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/agents/mail/smtpsink"
	"podium/ingest/chat"
)

// webSecret signs the chat messages of these tests and the answers to them.
const webSecret = "whsec_dGhlIHRlc3RzIHNpZ24gd2l0aCB0aGVzZSBieXRlcw=="

func signature(id, timestamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(webSecret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(id + "." + timestamp + "."))
	_, _ = mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// A webhook is one delivery of a chat message, as a provider makes it.
type webhook struct {
	id, text, thread string
	prefer           string
	user             string // empty: it does not say
}

// post makes one attempt.
func (w webhook) post(ctx context.Context, address string) (status int, body []byte, err error) {
	said := map[string]any{"text": w.text, "thread": w.thread, "message_id": w.id}
	if w.user != "" {
		said["user"] = map[string]string{"id": w.user}
	}
	message, err := json.Marshal(said)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/chat/web", bytes.NewReader(message))
	if err != nil {
		return 0, nil, err
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Webhook-Id", w.id)
	request.Header.Set("Webhook-Timestamp", timestamp)
	request.Header.Set("Webhook-Signature", signature(w.id, timestamp, message))
	if w.prefer != "" {
		request.Header.Set("Prefer", w.prefer)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// deliver posts until the message is accepted, as a provider does: the same id,
// after every failure to connect and every 5xx. It returns how often it tried.
func (w webhook) deliver(ctx context.Context, address string) (accepted chat.Accepted, tries int, err error) {
	for tries = 1; ; tries++ {
		attempt, stop := context.WithTimeout(ctx, 10*time.Second)
		status, body, err := w.post(attempt, address)
		stop()
		switch {
		case err == nil && (status == http.StatusAccepted || status == http.StatusOK):
			return accepted, tries, json.Unmarshal(body, &accepted)
		case err == nil && status < 500:
			return accepted, tries, fmt.Errorf("webhook %s is answered %d: %s", w.id, status, body)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return accepted, tries, ctx.Err()
		}
	}
}

// send delivers a message and fails the test when it is not accepted.
func (w webhook) send(t *testing.T, address string) chat.Accepted {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	accepted, _, err := w.deliver(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	return accepted
}

// An answer is what reached a person: one mail or one call of the callback.
type answer struct {
	id   string // Message-ID or reply id
	text string
}

// A ledger of answers, by the id of what they answer, in the order of arrival.
type answers struct {
	mutex sync.Mutex
	by    map[string][]answer
}

func (a *answers) add(question string, given answer) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.by == nil {
		a.by = map[string][]answer{}
	}
	a.by[question] = append(a.by[question], given)
}

func (a *answers) to(question string) []answer {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return append([]answer(nil), a.by[question]...)
}

// answered counts the questions that have an answer.
func (a *answers) answered() int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return len(a.by)
}

// callback serves the URL that a channel's answers are posted to.
func callback(t *testing.T, into *answers) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller was killed
		}
		id := r.Header.Get("Webhook-Id")
		if got := r.Header.Get("Webhook-Signature"); got != signature(id, r.Header.Get("Webhook-Timestamp"), body) {
			t.Errorf("the callback's signature is %q", got)
		}
		var delivered struct {
			Data struct {
				InReplyTo string `json:"in_reply_to"`
				ReplyID   string `json:"reply_id"`
				Text      string `json:"text"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &delivered); err != nil || delivered.Data.ReplyID != id {
			t.Errorf("the callback got %s: %v", body, err)
		}
		into.add(delivered.Data.InReplyTo, answer{id: id, text: delivered.Data.Text})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// outbox serves the mail server that answers are sent by.
func outbox(t *testing.T, into *answers) *smtpsink.Server {
	t.Helper()
	sink, err := smtpsink.Start(context.WithoutCancel(t.Context()), smtpsink.Config{OnKept: func(m *smtpsink.Message) {
		header := m.Header()
		_, text, _ := strings.Cut(string(m.Data), "\r\n\r\n")
		into.add(strings.Trim(header.Get("In-Reply-To"), "<>"), answer{id: strings.Trim(header.Get("Message-ID"), "<>"), text: text})
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sink.Close(); err != nil {
			t.Error(err)
		}
	})
	return sink
}

// mailAccount is the mail section for a mailbox and an outbox.
func mailAccount(imapPort, smtpPort int) string {
	return fmt.Sprintf(`mail:
  accounts:
    - name: support
      profile: desk
      since: all
      imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: "Support <support@example.org>", sent: none, limits: {peer_per_hour: 10000}}
`, imapPort, smtpPort)
}

// letter is a mail from a person, with nothing but what counts here.
func letter(id, subject, text string) []byte {
	return []byte(strings.ReplaceAll(fmt.Sprintf(`From: Ada Example <ada@example.net>
To: Support <support@example.org>
Subject: %s
Message-ID: <%s>
Date: Fri, 20 Nov 2026 09:30:00 +0100
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

%s
`, subject, id, text), "\n", "\r\n"))
}
