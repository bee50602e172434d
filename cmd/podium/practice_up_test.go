package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/agents/dav/radicale"
	"podium/agents/mail/smtpsink"
	"podium/ingest/chat"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
)

// dayPatience bounds the wait for a half of the day.
const dayPatience = 3 * time.Minute

// A playedDay is a day's messages on their way through one `podium up`, whose parts are real.
type playedDay struct {
	*deployment

	mailbox  *dovecot.Server
	sink     *smtpsink.Server
	calendar *radicale.Server
	sessions map[string]string // of each message that was sent, by its id
}

// newPlayedDay starts the profile as it is: its mailbox on a Dovecot, its letters to a server that keeps them, its calendar and address book on a
// Radicale, its store in SQLite and its knowledge in an index. It logs all there is to log.
func newPlayedDay(t *testing.T) *playedDay {
	t.Helper()
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	d := &playedDay{mailbox: dovecot.Start(t, dovecot.Options{LMTP: true}), sink: sink, calendar: radicale.Start(t), sessions: map[string]string{}}
	d.deployment = practiceAt(t, d.calendar.URL, d.mailbox.Port, sink.Port())
	d.up("-vv")
	return d
}

func dayMessageID(id string) string { return id + "@post.example" }

// letter is a mail of the day, as the practice's mail server has taken and judged it.
func (m *dayMessage) letter(answers string) []byte {
	var mail bytes.Buffer
	domain := m.From.Address[strings.IndexByte(m.From.Address, '@')+1:]
	fmt.Fprintf(&mail, "Authentication-Results: praxis.example; dmarc=pass header.from=%s\r\n", domain)
	fmt.Fprintf(&mail, "Message-ID: <%s>\r\nFrom: %s <%s>\r\nTo: Praxis <praxis@praxis.example>\r\nSubject: %s\r\nDate: %s\r\n",
		dayMessageID(m.ID), mime.QEncoding.Encode("utf-8", m.From.Name), m.From.Address, mime.QEncoding.Encode("utf-8", m.Subject), time.Now().Format(time.RFC1123Z))
	if answers != "" {
		fmt.Fprintf(&mail, "In-Reply-To: %s\r\nReferences: <%s> %s\r\n", answers, dayMessageID(m.Thread), answers)
	}
	text := m.Text
	if m.Quoted != "" {
		text += "\n\n" + m.Quoted
	}
	mail.WriteString("MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=teil\r\n\r\n--teil\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n")
	mail.WriteString(base64.StdEncoding.EncodeToString([]byte(text)) + "\r\n")
	for _, file := range m.Attachments {
		fmt.Fprintf(&mail, "--teil\r\nContent-Type: %s\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=\"%s\"\r\n\r\n%s\r\n",
			file.MediaType, file.Name, base64.StdEncoding.EncodeToString([]byte(file.Name)))
	}
	mail.WriteString("--teil--\r\n")
	return mail.Bytes()
}

// send brings messages in, mails through the mailbox in bulk and chats at once, and waits until each is answered, or asked about.
func (d *playedDay) send(messages []*dayMessage) {
	d.t.Helper()
	var letters [][]byte
	var chats sync.WaitGroup
	var mutex sync.Mutex
	for _, m := range messages {
		if m.Door == "mail" {
			d.sessions[m.ID] = schemas.SessionID("practice", dayMessageID(m.ID))
			answers := ""
			if m.Thread != "" {
				d.sessions[m.ID], answers = d.sessions[m.Thread], d.newest(m.Thread)
			}
			letters = append(letters, m.letter(answers))
			continue
		}
		chats.Go(func() {
			session := d.post(m)
			mutex.Lock()
			defer mutex.Unlock()
			d.sessions[m.ID] = session
		})
	}
	d.mailbox.Send(d.t, "mta@praxis.example", letters...)
	chats.Wait()
	var open int
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(dayPatience); ; <-ticker.C {
		ended := d.settled()
		open = 0
		for _, m := range messages {
			if !ended[m.ID] {
				open++
			}
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%d of %d messages are not dealt with", open, len(messages))
		}
	}
}

// post sends a chat message by the channel's webhook and returns its session.
func (d *playedDay) post(m *dayMessage) string {
	posted := map[string]any{"text": m.Text, "message_id": m.ID, "thread": m.ID, "user": map[string]string{"id": m.From.User, "name": m.From.Name}}
	if m.Thread != "" {
		posted["thread"] = m.Thread
	}
	body, err := json.Marshal(posted)
	if err != nil {
		d.t.Error(err)
		return ""
	}
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://"+d.listen+"/v1/chat/praxis", bytes.NewReader(body))
	if err != nil {
		d.t.Error(err)
		return ""
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+strings.Repeat("token", 8))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Error(err)
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(response.Body)
	var accepted chat.Accepted
	if err == nil {
		err = json.Unmarshal(said, &accepted)
	}
	if err != nil || response.StatusCode != http.StatusAccepted {
		d.t.Errorf("%s: %d, %v\n%s", m.ID, response.StatusCode, err, said)
	}
	return accepted.Session
}

// newest is the Message-ID of the newest letter that answers a mail of the day.
func (d *playedDay) newest(id string) string {
	for _, letter := range slices.Backward(d.sink.Messages()) {
		if letter.Header().Get("In-Reply-To") == "<"+dayMessageID(id)+">" {
			return letter.Header().Get("Message-Id")
		}
	}
	d.t.Fatalf("nothing answers %s", id)
	return ""
}

// bySession are the runs of each session, the newest first.
func (d *playedDay) bySession() map[string][]workflow.RunHistory {
	all := map[string][]workflow.RunHistory{}
	for _, run := range d.runs() {
		all[run.Session] = append(all[run.Session], run)
	}
	return all
}

// settled says which messages are dealt with.
func (d *playedDay) settled() map[string]bool {
	ended, runs := map[string]bool{}, d.bySession()
	for id, session := range d.sessions {
		ended[id] = len(runs[session]) > 0 && (runs[session][0].Phase == workflow.PhaseComplete || waitingFor(&runs[session][0]) != nil)
	}
	return ended
}

func waitingFor(run *workflow.RunHistory) *workflow.Inquiry {
	for _, inquiry := range run.Inquiries {
		if inquiry.Open() {
			return inquiry
		}
	}
	return nil
}

func TestPracticeDayThroughTheService(t *testing.T) {
	t.Parallel()
	messages := readDay(t)
	d := newPlayedDay(t)
	var first, second []*dayMessage
	for i := range messages {
		if m := &messages[i]; m.Thread == "" {
			first = append(first, m)
		} else {
			second = append(second, m)
		}
	}
	began := time.Now()
	d.send(first)
	t.Log(time.Since(began))
	before := d.bySession()
	d.send(second)
	t.Log(time.Since(began))
	after := d.bySession()
	for i := range messages {
		m := &messages[i]
		runs := after[d.sessions[m.ID]]
		if m.Thread == "" {
			runs = before[d.sessions[m.ID]]
		}
		run := &runs[0]
		outcome := string(run.Status) + " " + string(run.Reason)
		if q := waitingFor(run); q != nil {
			outcome = "asked: " + q.Question
		}
		text := ""
		if len(run.Answer) > 0 {
			text = run.Answer[0].Body.Text
		}
		agent := ""
		if len(run.Tasks) > 0 {
			agent = run.Tasks[0].Agent
		}
		fmt.Printf("%s\t%s\t%s\t%s\t%s\n", m.ID, m.Expect.Outcome, agent, outcome, strings.ReplaceAll(text, "\n", " / "))
	}
	_ = filepath.Join
	d.stop()
	d.verify()
}
