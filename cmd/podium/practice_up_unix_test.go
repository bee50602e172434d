//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"podium/agents/dav/radicale"
	"podium/agents/mail/smtpsink"
	"podium/bus"
	"podium/cmd/podium/installation"
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
	dav      *radicale.Server
	beneath  string            // the folder of the profile in that of the deployment
	patience time.Duration     // with a half of the day
	sessions map[string]string // of each message that was sent, by its id
	came     map[string]int    // how many messages of a session were taken when more were sent, by session
}

// newPlayedDay starts the profile as it is: its mailbox on a Dovecot, its letters to a server that keeps them, its calendar and address book on a
// Radicale, its store in SQLite and its knowledge in an index.
func newPlayedDay(t *testing.T) *playedDay {
	t.Helper()
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	d := &playedDay{mailbox: dovecot.Start(t, dovecot.Options{LMTP: true}), sink: sink, dav: radicale.Start(t), sessions: map[string]string{}, patience: dayPatience}
	d.deployment = practiceAt(t, d.dav.URL, d.mailbox.Port, sink.Port())
	d.replace("username: agent, password", "authserv_ids: [praxis.example], username: agent, password")
	d.replace("    closed: [", "    # closed: [") // the day is moved to other weeks
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

// taken counts the messages of a session that its runs have taken.
func taken(runs []workflow.RunHistory) int {
	count := len(runs)
	for i := range runs {
		for _, inquiry := range runs[i].Inquiries {
			if inquiry.Answered != nil {
				count++
			}
		}
	}
	return count
}

// send brings messages in, mails through the mailbox in bulk and chats at once, and waits until each is answered, or asked about.
func (d *playedDay) send(messages []*dayMessage) {
	d.t.Helper()
	d.came = map[string]int{}
	for session, runs := range d.bySession() {
		d.came[session] = taken(runs)
	}
	var letters [][]byte
	var chats sync.WaitGroup
	var mutex sync.Mutex
	for _, m := range messages {
		if m.Door == "mail" {
			mutex.Lock()
			d.sessions[m.ID] = schemas.SessionID("practice", dayMessageID(m.ID))
			answers := ""
			if m.Thread != "" {
				d.sessions[m.ID], answers = d.sessions[m.Thread], d.newest(m.Thread)
			}
			mutex.Unlock()
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
	for deadline := time.Now().Add(d.patience); ; <-ticker.C {
		d.doctorDecides(messages)
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

// doctorDecides has the doctor agree to what is to be learned, as far as that was validated.
func (d *playedDay) doctorDecides(messages []*dayMessage) {
	d.t.Helper()
	for _, run := range d.runs() {
		open := waitingFor(&run)
		if open == nil || open.Kind != schemas.HumanTaskApproval || open.Notices == 0 {
			continue
		}
		verb := "approve"
		for _, m := range messages {
			if d.sessions[m.ID] == run.Session && m.Expect.Outcome == "refused" {
				verb = "reject"
			}
		}
		d.podium(verb, fmt.Sprintf("%s.%d", run.ID, open.Inquiry)).succeeds(d.t)
	}
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
		ended[id] = taken(runs[session]) > d.came[session] && (runs[session][0].Phase == workflow.PhaseComplete || asksRequester(&runs[session][0]))
	}
	return ended
}

func asksRequester(run *workflow.RunHistory) bool {
	open := waitingFor(run)
	return open != nil && open.Kind == schemas.HumanTaskInput
}

// A dayBefore is what the day presupposes: appointments that are cancelled and moved, things that are in the store, and people who are in the
// address book.
type dayBefore struct {
	Appointments []struct {
		Name string `json:"name"`
		Date string `json:"date"` // or today, or tomorrow, as the messages say
		Time string `json:"time"`
	} `json:"appointments"`
	Contacts []struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"contacts"`
	Stock []string `json:"stock"` // lines of bestand.csv
}

// prepare has the servers hold what the day presupposes.
func (d *playedDay) prepare(weeks int) {
	d.t.Helper()
	body, err := os.ReadFile(filepath.Join(practiceProfile, "testdata", "before.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var before dayBefore
	if err := schemas.Unmarshal(body, &before); err != nil {
		d.t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		d.t.Fatal(err)
	}
	today := time.Now().In(berlin)
	for i, one := range before.Appointments {
		days := []string{shiftedDay(one.Date, weeks)}
		switch one.Date { // midnight may come
		case "today":
			days = []string{today.Format(time.DateOnly), today.AddDate(0, 0, 1).Format(time.DateOnly)}
		case "tomorrow":
			days = []string{today.AddDate(0, 0, 1).Format(time.DateOnly), today.AddDate(0, 0, 2).Format(time.DateOnly)}
		}
		for n, day := range days {
			start, err := time.ParseInLocation("2006-01-02 15:04", day+" "+one.Time, berlin)
			if err != nil {
				d.t.Fatal(err)
			}
			name := fmt.Sprintf("before-%d-%d", i, n)
			d.dav.Put(d.t, radicale.Calendar+name+".ics", fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//practice//EN\r\nBEGIN:VEVENT\r\nUID:%s\r\n"+
				"DTSTAMP:20260101T000000Z\r\nDTSTART:%s\r\nDTEND:%s\r\nSUMMARY:%s\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
				name, start.UTC().Format("20060102T150405Z"), start.Add(20*time.Minute).UTC().Format("20060102T150405Z"), one.Name))
		}
	}
	for i, one := range before.Contacts {
		given, family, _ := strings.Cut(one.Name, " ")
		d.dav.Put(d.t, fmt.Sprintf("%sbefore-%d.vcf", radicale.Contacts, i), fmt.Sprintf(
			"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:before-%d\r\nFN:%s\r\nN:%s;%s;;;\r\nEMAIL:%s\r\nEND:VCARD\r\n", i, one.Name, family, given, one.Email))
	}
	stock, err := os.ReadFile(filepath.Join(practiceProfile, "bestand.csv"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.write(filepath.Join(d.beneath, "bestand.csv"), string(stock)+strings.Join(before.Stock, "\n")+"\n")
}

// became is what has come of a message in the service.
func became(run *workflow.RunHistory) (made dealt, words string) {
	made.outcome = string(run.Status)
	if len(run.Tasks) > 0 {
		made.agent = run.Tasks[0].Agent
		if filled := run.Tasks[0].Filled; filled != nil {
			made.values = filled.Values
		}
	}
	inquiry := waitingFor(run)
	switch {
	case inquiry != nil:
		made.outcome, words = "asked", inquiry.Question
		for _, need := range inquiry.Needs {
			made.missing = append(made.missing, need.Name)
		}
	case run.Status == schemas.RunCompleted:
		made.outcome = "answered"
		var text strings.Builder
		for _, part := range run.Answer {
			_, _ = text.WriteString(part.Body.Text + "\n")
		}
		words = text.String()
	case run.Error != nil && (run.Reason == schemas.StopTaskFailed || run.Reason == schemas.StopRejected):
		made.outcome, words = "refused", run.Error.Message["de"]
	}
	return made, words
}

// dayRefusals are the messages that rules understand, and whose agents cannot do what they ask for.
func dayRefusals() map[string]string {
	const closed = "the practice is closed on Wednesday afternoons"
	return map[string]string{"d-092": "a contact is not found by the name that it is to get", "d-042": closed, "d-076": closed, "d-081": closed}
}

// TestPracticeDayThroughTheService sends the day to a `podium up` with real parts: 120 mails by LMTP into a Dovecot, from where they are fetched,
// and 80 chats by the webhook. Each goes where the rules say, and comes back answered, asked about or refused in German; a second appointment at a
// time that is taken is refused. Nothing that tells of a person is in the log of all that happens, in metrics, or in what is known of the agents.
func TestPracticeDayThroughTheService_G02_G34_G37(t *testing.T) {
	t.Parallel()
	practice, d := newDay(t), newPlayedDay(t)
	now := time.Now().In(practice.berlin)
	weeks := weeksAhead(t, now)
	messages := shiftedMessages(t, weeks, now)
	d.prepare(weeks)
	d.up("-vv")
	var halves [2][]*dayMessage // what begins a conversation, and what goes on with one
	for i := range messages {
		half := 0
		if messages[i].Thread != "" {
			half = 1
		}
		halves[half] = append(halves[half], &messages[i])
	}
	results := map[string]*workflow.RunHistory{}
	for _, half := range halves {
		began := time.Now()
		d.send(half)
		t.Logf("%d messages in %s", len(half), time.Since(began).Round(100*time.Millisecond))
		runs := d.bySession()
		for _, m := range half {
			results[m.ID] = &runs[d.sessions[m.ID]][0]
		}
	}
	score, before := dayScore{byAgent: map[string][4]int{}}, map[string]*dealt{}
	for i := range messages {
		m := &messages[i]
		run := results[m.ID]
		moment := run.Message.Taken
		if asked := before[m.Thread]; asked != nil && asked.outcome == "asked" {
			moment = run.Inquiries[0].Ended
		}
		want := practice.deal(t, m, before[m.Thread], moment)
		before[m.ID] = &want
		made, words := became(run)
		if why := dayRefusals()[m.ID]; why != "" && made.outcome == "refused" && want.outcome == "answered" {
			t.Logf("%s is refused: %s\n%s", m.ID, why, words)
			made.outcome = "answered"
		}
		if made.agent != want.agent || made.outcome != want.outcome || !slices.Equal(made.missing, want.missing) {
			t.Errorf("%s: %s is %s (%v), the rules say %s is %s (%v)\n%s", m.ID, made.agent, made.outcome, made.missing, want.agent, want.outcome, want.missing, words)
		}
		if strings.TrimSpace(words) == "" || english.MatchString(words) {
			t.Errorf("%s is told %q", m.ID, words)
		}
		score.add(t, m, &made)
	}
	score.total(t)
	if text := strings.Join(score.misses, "\n") + "\n"; text != heldMisses(t) {
		t.Errorf("what is not as expected differs from testdata/day.misses:\n%s", text)
	}
	d.wrote(messages)
	d.refusesTwice(weeks)
	d.tellsNobody(messages)
	d.stop()
	d.verify()
}

var english = regexp.MustCompile(`(?i)\b(the|is|are|please|cannot|not|found|error|what|which)\b`)

// wrote looks for a letter for each mail, to whoever has written it. The answer to a question may name the mail that led to it.
func (d *playedDay) wrote(messages []dayMessage) {
	d.t.Helper()
	eventually(d.t, "each mail is answered", func() bool { return len(d.sink.Messages()) >= 120 })
	began := map[string]string{} // by the id of a mail, that of the first one of its conversation
	open := map[string]int{}     // letters that are missing, by conversation and address
	for i := range messages {
		m := &messages[i]
		if m.Door == "mail" {
			began[dayMessageID(m.ID)] = cmp.Or(m.Thread, m.ID)
			open[cmp.Or(m.Thread, m.ID)+" "+m.From.Address]++
		}
	}
	for _, letter := range d.sink.Messages() {
		if slices.Equal(letter.To, []string{"aerztin@praxis.example"}) {
			continue // she is asked what is to be learned
		}
		open[began[strings.Trim(letter.Header().Get("In-Reply-To"), "<>")]+" "+strings.Join(letter.To, " ")]--
	}
	for of, count := range open {
		if count != 0 {
			d.t.Errorf("%d letters are missing: %s", count, of)
		}
	}
}

// refusesTwice asks for a time that an appointment of the day has.
func (d *playedDay) refusesTwice(weeks int) {
	d.t.Helper()
	stored := len(d.dav.Names(d.t, radicale.Calendar, ".ics"))
	run, answer := d.asksInVain(shifted("Bitte einen Termin am 04.12.2026 um 9:40 Uhr für Anna Weber buchen.", weeks))
	if !strings.Contains(answer, "Diese Zeit ist belegt: 09:30–09:50.") || run.Status != schemas.RunFailed || len(d.dav.Names(d.t, radicale.Calendar, ".ics")) != stored {
		d.t.Errorf("%s: %q, %d appointments before", run.Status, answer, stored)
	}
}

// shownToAll is what is shown without the right to read runs: the log and all that speaks of agents. It is in small letters.
func (d *playedDay) shownToAll() map[string]string {
	d.t.Helper()
	shown := map[string]string{
		"standard output": d.process.stdout.String(), "the log": d.process.stderr.String(),
		"podium agents": d.podium("agents", "-o", "json").succeeds(d.t).stdout,
	}
	for _, path := range []string{"/metrics", "/health", "/healthz"} {
		_, shown[path] = d.get(path)
	}
	ledger, err := installation.Attach(d.t.Context(), d.data, installation.LookAtRest, zerolog.Nop())
	if err != nil {
		d.t.Fatal(err)
	}
	store := ledger.Core.KeyValue(bus.AgentBucket)
	keys, err := store.Keys(d.t.Context())
	if err != nil || len(keys) < 10 {
		d.t.Fatalf("%d keys of agents, %v", len(keys), err)
	}
	for _, key := range keys {
		value, _, err := store.Get(d.t.Context(), key)
		if err != nil {
			d.t.Fatal(err)
		}
		shown["key "+key] = key + " " + string(value)
	}
	if err := ledger.Close(); err != nil {
		d.t.Error(err)
	}
	for where, text := range shown {
		shown[where] = strings.ToLower(text)
	}
	return shown
}

// hides looks for what is personal in messages where it may not be.
func (d *playedDay) hides(shown map[string]string, messages []*dayMessage) {
	d.t.Helper()
	words := 0
	for _, m := range messages {
		for _, personal := range m.Personal {
			words++
			for where, text := range shown {
				if at := wordIn(text, strings.ToLower(personal)); at >= 0 {
					d.t.Errorf("%s has %q of %s: %s", where, personal, m.ID, strings.ToValidUTF8(text[max(0, at-80):min(len(text), at+120)], "?"))
				}
			}
		}
	}
	if words < 3*len(messages) {
		d.t.Errorf("%d personal words in %d messages", words, len(messages))
	}
}

// tellsNobody looks for what is personal in the log and all that is shown without the right to read runs.
func (d *playedDay) tellsNobody(messages []dayMessage) {
	d.t.Helper()
	shown := d.shownToAll()
	if lines := strings.Count(shown["the log"], "\n"); lines < len(messages) {
		d.t.Fatalf("%d lines of the log are too few to prove anything", lines)
	}
	if runs := strings.ToLower(d.podium("runs", "-o", "json", "--limit", "1000").succeeds(d.t).stdout); wordIn(runs, "petra.lindner@post.example") < 0 {
		d.t.Error("the search does not find what runs say to whom may read them")
	}
	all := make([]*dayMessage, len(messages))
	for i := range messages {
		all[i] = &messages[i]
	}
	d.hides(shown, all)
	hashed := strings.TrimSpace(d.podium("pseudonym", "Petra.Lindner@post.example").succeeds(d.t).stdout)
	found := regexp.MustCompile(`"session":"(h-[0-9a-f]{16})","sender":"`+hashed+`"`).FindAllStringSubmatch(shown["the log"], -1)
	if len(found) != 1 {
		d.t.Fatalf("%d lines of the log have the sender %s", len(found), hashed)
	}
	if run := d.run(found[0][1]); run.Session != d.sessions["d-028"] {
		d.t.Errorf("the conversation of the line is shown as %s", run.Session)
	}
}

// wordIn is where a word stands in a text, as a whole; -1 when it does not. Both are in small letters.
func wordIn(text, word string) int {
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		behind, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !inside(before) && !inside(behind) {
			return at
		}
		from = at + len(word)
	}
}
