package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/agents/dav/radicale"
	"podium/agents/llm/modelserver"
	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
	"podium/schemas/workflow"
)

const practiceProfile = "../../deploy/profiles/practice"

// profileOfPractice installs the profile of the practice as it is, with a real server of its calendar and address book, a mailbox, and a
// server that takes its letters.
func profileOfPractice(t *testing.T) (*deployment, *memorymailbox.Server, *smtpsink.Server) {
	t.Helper()
	_, mailbox, sink := correspondence(t, "desk")
	return practiceAt(t, radicale.Start(t).URL, mailbox.Port(), sink.Port()), mailbox, sink
}

// practiceAt installs the profile of the practice, whose servers are somewhere.
func practiceAt(t *testing.T, dav string, imap, smtp int) *deployment {
	t.Helper()
	return installTree(t, practiceProfile, append(practiceServers(dav, imap, smtp), `http: {listen: "127.0.0.1:8080"}`, "")...)
}

// practiceServers are the words of the profile that say where its servers are, each with what takes its place.
func practiceServers(dav string, imap, smtp int) []string {
	return []string{
		"http://127.0.0.1:5232", dav, "${PRAXIS_DAV_PASSWORD}", radicale.Password,
		"port: 143", fmt.Sprintf("port: %d", imap), "username: praxis, password", "username: agent, password", "poll: 30s", "poll: 1s",
		"since: now", "since: all", "${PRAXIS_MAIL_PASSWORD}", "secret", "port: 25", fmt.Sprintf("port: %d", smtp),
		"127.0.0.1:25\"", fmt.Sprintf("127.0.0.1:%d\"", smtp), "${PRAXIS_CHAT_TOKEN}", strings.Repeat("token", 8), "authserv_ids: [praxis.example], ", "",
	}
}

// TestPracticeProfile plays the profile: each of the nine formats from words to an answer in German, what is missing is asked in German, and
// what cannot be is refused in German.
func TestPracticeProfile_G05_G06_G07_G08_G09_G10_G11_G12_G13(t *testing.T) {
	t.Parallel()
	i, _, _ := profileOfPractice(t)
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	for _, c := range []struct{ words, agent, says string }{
		{"Ich habe seit gestern starken Juckreiz am Arm.", "diagnose_agent", "Das ersetzt keine ärztliche Untersuchung."},
		{"Hallo, wie geht es Ihnen?", "chat_agent", "Womit kann ich Ihnen helfen?"},
		{"Bitte eine E-Mail an labor@example.org schreiben, dass die Proben morgen kommen.", "email_agent", "Der Entwurf an labor@example.org liegt bei. Gesendet ist er nicht."},
		{"Bitte einen Termin am 30.03.2099 um 9 Uhr für Jürgen Müller buchen.", "calendar_agent", "Der Termin ist eingetragen: 30.03.2099, 09:00 Uhr, 20 Minuten, Jürgen Müller."},
		{"Bitte Kontakt für Jürgen Müller anlegen, Telefon 030 1234567.", "contacts_agent", "Der Kontakt ist angelegt:"},
		{"Bitte einen Arztbrief für Herrn Jürgen Müller erstellen.", "writer_agent", ""},
		{"Wie viele Packungen Ibuprofen 400 haben wir noch?", "inventory_agent", "Ibuprofen 400: 12 Packung im Lager, Mindestbestand 20, auf der Bestellliste 0. Der Mindestbestand ist unterschritten."},
		{"Bitte 20 Packungen Ibuprofen 400 bestellen.", "inventory_agent", "Auf der Bestellliste: 20 Packung Ibuprofen 400."},
		{"BMI berechnen: 82 kg, 1,76 m", "calculator", "BMI: 26,5 kg/m².\n"},
		{"Dosis berechnen: 15 mg/kg bei 20 kg", "calculator", "Dosis: 300 mg. Das ist nur gerechnet"},
		{"Was sagt die Wissensdatenbank zu Nesselsucht?", "wissen_agent", "Dazu ist nichts hinterlegt."},
		{"Patient hat Juckreiz. " + strings.Repeat("Ich schreibe Ihnen von meinem Garten. ", 300) + "\n\nMein Vater hat starke Atemnot.", "diagnose_agent", "Notruf 112"},
	} {
		run, answer := i.answered(c.words)
		if run.Tasks[0].Agent != c.agent || !strings.Contains(answer, c.says) || run.Status != schemas.RunCompleted {
			t.Errorf("%s\n%s by %s: %q", c.words, run.Status, run.Tasks[0].Agent, answer)
		}
		if c.agent == "writer_agent" && (len(run.Tasks[0].Deliverables) != 1 || run.Tasks[0].Deliverables[0].Path != "arztbrief.pdf") {
			t.Errorf("%s\n%+v", c.words, run.Tasks[0].Deliverables)
		}
	}
	const rest = "In Ihrer Nachricht steht mehr als ein Anliegen, und nur das obige ist bearbeitet."
	for words, says := range map[string][]string{
		"Bitte für Anna Weber ein Rezept für Ramipril 5 mg, 100 Stück, und eine Überweisung zum Kardiologen.":               {"Das Dokument „Rezept“ ist fertig", "Das Dokument „Überweisung“ ist fertig"},
		"Bitte einen Termin am 01.04.2099 um 9 Uhr für Jürgen Müller buchen. Bitte ihm auch eine Bescheinigung ausstellen.": {"Der Termin ist eingetragen: 01.04.2099", "Das Dokument „Ärztliche Bescheinigung“ ist fertig"},
		"Bitte einen Termin am 01.04.2099 um 10 Uhr für Jürgen Müller buchen. Den BMI soll jemand ausrechnen.":              {"Der Termin ist eingetragen: 01.04.2099", rest},
	} {
		run, answer := i.answered(words)
		for _, want := range says {
			if !strings.Contains(answer, want) || run.Status != schemas.RunCompleted {
				t.Errorf("%s\n%s: %q, without %q", words, run.Status, answer, want)
			}
		}
	}
	for _, c := range []struct{ words, question, answer, says string }{
		{"Bitte einen Termin für Anna Weber am 31.03.2099 buchen.", "Um wie viel Uhr?", "um 10:00", "Der Termin ist eingetragen: 31.03.2099, 10:00 Uhr"},
		{"Bitte eine E-Mail an labor@example.org schreiben.", "Was soll darin stehen?", "Dass die Proben morgen kommen.", "Der Entwurf an labor@example.org liegt bei."},
		{"Bitte eine Bescheinigung erstellen.", "Für welchen Patienten ist das Dokument?", "für Anna Weber", ""},
		{"Bitte den BMI berechnen, 82 kg", "Wie groß ist die Person, zum Beispiel 1,76 m oder 176 cm?", "1,76 m", "26,5"},
		{"BMI berechnen: 82 kg, 176 m", "Wie groß ist die Person, zum Beispiel 1,76 m oder 176 cm? „176“ passt hier nicht.", "176 cm", "26,5"},
		{"Bitte Spritzen bestellen.", "Wie viel?", "5 Packungen", "Auf der Bestellliste: 5 Packung Spritzen."},
	} {
		run := i.asksBack(c.words, c.question, c.answer)
		if run.Status != schemas.RunCompleted || !strings.Contains(run.Answer[0].Body.Text, c.says) {
			t.Errorf("%s\n%s: %+v", c.words, run.Status, run.Answer)
		}
	}
	for _, c := range []struct{ words, says string }{
		{"Bitte einen Termin am 30.03.2099 um 9:10 Uhr für Anna Weber buchen.", "Diese Zeit ist belegt: 09:00–09:20."},
		{"Bitte 20 Packungen Einhorn bestellen.", "Den Artikel Einhorn gibt es im Lager nicht. Geändert ist nichts."},
	} {
		if run, answer := i.asksInVain(c.words); run.Status != schemas.RunFailed || !strings.Contains(answer, c.says) {
			t.Errorf("%s\n%s: %q", c.words, run.Status, answer)
		}
	}
	i.stop()
	i.verify()
}

// learns has the doctor agree to what somebody wants to have learned.
func (i *deployment) learns(words string) {
	i.t.Helper()
	run := i.asksTheDoctor(words)
	i.podium("approve", run.ID+".1").succeeds(i.t)
	within(i.t, patience, "it is learned", func() bool {
		run = i.run(run.ID)
		return run.Phase == workflow.PhaseComplete
	})
	if run.Status != schemas.RunCompleted || !strings.Contains(run.Answer[0].Body.Text, "Gelernt: eine Textstelle.") {
		i.t.Fatalf("%s: %s, %+v", words, run.Status, run.Answer)
	}
}

// asksTheDoctor sends what is to be learned, and waits for the question whether that is so.
func (i *deployment) asksTheDoctor(words string) (asking workflow.RunHistory) {
	i.t.Helper()
	i.podium("send", words).succeeds(i.t)
	within(i.t, patience, "the doctor is asked", func() bool {
		for _, run := range i.runs() {
			if open := waitingFor(&run); open != nil && open.Kind == schemas.HumanTaskApproval {
				asking = run
				return open.Notices > 0
			}
		}
		return false
	})
	return asking
}

// TestPracticeLearnsWhatTheDoctorAgreesTo: what is learned was validated by whoever may agree, and by nobody's word of their own: the doctor gets a letter
// with the text, no is no, and the agent is told true for what was agreed to alone.
func TestPracticeLearnsWhatTheDoctorAgreesTo_G13(t *testing.T) {
	t.Parallel()
	i, _, sink := profileOfPractice(t)
	i.up()
	const text, words = "Bei Nesselsucht hilft Kühlung.", "Bitte in die Wissensdatenbank aufnehmen, ärztlich geprüft: Bei Nesselsucht hilft Kühlung."
	refused := i.asksTheDoctor(words)
	eventually(t, "the letter is there", func() bool { return len(sink.Messages()) == 1 })
	if letter := sink.Messages()[0]; !slices.Equal(letter.To, []string{"aerztin@praxis.example"}) || !strings.Contains(textOf(&letter), text) ||
		strings.Contains(textOf(&letter), "Geprüft: ja") || !strings.Contains(textOf(&letter), "Gilt mit Ihrer Zustimmung als geprüft: ja") {
		t.Errorf("%v\n%s", letter.To, textOf(&letter))
	}
	i.podium("reject", refused.ID+".1").succeeds(t)
	within(t, patience, "it is not learned", func() bool { return i.run(refused.ID).Phase == workflow.PhaseComplete })
	if run := i.run(refused.ID); run.Status != schemas.RunFailed || run.Reason != schemas.StopRejected {
		t.Errorf("%s: %s", run.Status, run.Reason)
	}
	if _, answer := i.answered("Was sagt die Wissensdatenbank zu Nesselsucht?"); answer != "Dazu ist nichts hinterlegt." {
		t.Errorf("after a no: %q", answer)
	}
	i.learns(words)
	if _, answer := i.answered("Was sagt die Wissensdatenbank zu Nesselsucht?"); answer != "1. "+text {
		t.Errorf("after a yes: %q", answer)
	}
	i.stop()
	i.verify()
}

// waitingFor is the question that a run waits for; nil for none.
func waitingFor(run *workflow.RunHistory) *workflow.Inquiry {
	for _, inquiry := range run.Inquiries {
		if inquiry.Open() {
			return inquiry
		}
	}
	return nil
}

// converses sends messages of one conversation one after the other, and holds what comes back to what is said behind each.
func (i *deployment) converses(thread string, turns ...string) {
	i.t.Helper()
	for n := 0; n < len(turns); n += 2 {
		posted, err := json.Marshal(map[string]any{"text": turns[n], "thread": thread, "user": map[string]string{"id": "u1"}})
		if err != nil {
			i.t.Fatal(err)
		}
		var told struct {
			Answer  string `json:"answer"`
			Inquiry struct {
				Question string `json:"question"`
			} `json:"inquiry"`
		}
		if err := json.Unmarshal([]byte(i.postsChat("praxis", posted, "wait=60")), &told); err != nil {
			i.t.Fatal(err)
		}
		if said := told.Answer + told.Inquiry.Question; said != turns[n+1] {
			i.t.Errorf("%s: %s\n%q, not\n%q", thread, turns[n], said, turns[n+1])
		}
	}
}

// TestPracticeConversations: what was understood is offered in one question, with German names and dates, and "ja" takes it; what is missing is asked for at
// once; and who takes a request back has nothing done.
func TestPracticeConversations_G27(t *testing.T) {
	t.Parallel()
	i, _, _ := profileOfPractice(t)
	i.up()
	const agree, nothing = "\nWenn das stimmt, antworten Sie bitte mit „ja“. Sonst schreiben Sie, was anders sein soll.", "In Ordnung, dann geschieht nichts. Wenn Sie etwas anderes möchten, schreiben Sie es einfach."
	const stock = "Habe ich das richtig verstanden?\n– Lager: Bestand ändern\n– Menge: 80\n– Einheit: Packungen\n– Artikel: Spritzen" + agree
	i.converses(
		"books", "Bitte einen Termin am 30.03.2099 um 10 Uhr für Anna Weber buchen.", "Der Termin ist eingetragen: 30.03.2099, 10:00 Uhr, 20 Minuten, Anna Weber.",
		"Der Termin von Frau Weber am 30.03.2099 muss auf den 31.03.2099 verschoben werden, gleiche Uhrzeit.",
		"Habe ich das richtig verstanden?\n– Termin: verschieben\n– Neues Datum: 31.03.2099\n– Datum: 30.03.2099\n– Patient: Weber"+agree,
		"Ja, genau", "Der Termin ist verlegt: von 30.03.2099, 10:00 Uhr auf 31.03.2099, 10:00 Uhr, 20 Minuten, Anna Weber.",
	)
	i.converses("all at once", "Ich hätte gern einen Termin", "Für wen ist der Termin?\nFür welchen Tag?\nUm wie viel Uhr?",
		"Anna Weber, am 30.03.2099 um 11 Uhr", "Der Termin ist eingetragen: 30.03.2099, 11:00 Uhr, 20 Minuten, Anna Weber.")
	i.converses("without a name", "Absage: kann am 31.03.2099 nicht kommen.", "Habe ich das richtig verstanden?\n– Termin: absagen\n– Datum: 31.03.2099"+agree,
		"Ja, der um 10 Uhr", "Der Termin ist abgesagt: 31.03.2099, 10:00 Uhr, Anna Weber.")
	i.converses("agreed", "Der Bestand an Spritzen ist jetzt 80 Packungen", stock, "ja, stimmt so, danke", "Der Bestand ist gesetzt. Spritzen: 80 Packung im Lager, Mindestbestand 10, auf der Bestellliste 0.")
	i.converses("not so", "Der Bestand an Spritzen ist jetzt 80 Packungen", stock, "Nein",
		"Soll der Bestand geprüft, geändert oder etwas bestellt werden?\nUm welchen Artikel geht es?", "doch nicht", nothing)
	for n, words := range []string{"doch absagen", "nein danke, doch nicht", "Das hat sich erledigt, vielen Dank!\n\nMit freundlichen Grüßen\nAnna Weber"} {
		i.converses(fmt.Sprintf("withdrawn %d", n), "Bitte einen Termin für Anna Weber buchen", "Für welchen Tag?\nUm wie viel Uhr?", words, nothing)
	}
	if _, answer := i.answered("Welche Termine am 30.03.2099?"); strings.Count(answer, "Minuten") != 1 {
		t.Errorf("more or less than one appointment is left: %q", answer)
	}
	i.stop()
	i.verify()
}

// TestPracticeFilesByChat: who asks for a document by chat finds it where the answer is, by the same key, for saving and for nothing else.
func TestPracticeFilesByChat_G10(t *testing.T) {
	t.Parallel()
	i, _, _ := profileOfPractice(t)
	i.up()
	var told struct {
		Files []struct {
			Name      string `json:"name"`
			MediaType string `json:"media_type"`
			Size      int    `json:"size"`
			URL       string `json:"url"`
		} `json:"files"`
	}
	said := i.postsChat("praxis", []byte(`{"text": "Bitte einen Arztbrief für Herrn Jürgen Müller erstellen."}`), "wait=60")
	if err := json.Unmarshal([]byte(said), &told); err != nil || len(told.Files) != 1 || told.Files[0].Name != "arztbrief.pdf" {
		t.Fatalf("%v\n%s", err, said)
	}
	get := func(path string) (int, http.Header, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+i.listen+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, response.Header, string(body)
	}
	file := told.Files[0]
	status, header, body := get(file.URL)
	if status != http.StatusOK || len(body) != file.Size || !strings.HasPrefix(body, "%PDF") || header.Get("Content-Type") != "application/pdf" ||
		header.Get("Content-Disposition") != "attachment; filename=arztbrief.pdf" || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d, %d of %d bytes, %v", status, len(body), file.Size, header)
	}
	path, key, _ := strings.Cut(file.URL, "?")
	if status, _, _ := get(path); status != http.StatusUnauthorized {
		t.Errorf("without the key: %d", status)
	}
	other := path[:strings.LastIndexByte(path, '/')+1] + strings.Repeat("0", 64)
	if status, _, _ := get(other + "?" + key); status != http.StatusNotFound {
		t.Errorf("what is not of the answer: %d", status)
	}
	i.stop()
	i.verify()
}

// TestPracticeChain: complaints are the one thing that two agents deal with, and pictures come along and are named by their hashes. It is so for
// whatever else stands in the message.
func TestPracticeChain_G04_G24_G42(t *testing.T) {
	t.Parallel()
	i, mailbox, sink := profileOfPractice(t)
	i.up()
	picture := pictures()[1]
	// The same by chat, where the file is in the body of the message.
	posted, err := json.Marshal(map[string]any{
		"text": "Patient P-17 hat Ausschlag", "attachments": []map[string]string{{"name": "arm.jpg", "media_type": "image/jpeg", "content": base64.StdEncoding.EncodeToString(picture.content)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	said := i.postsChat("praxis", posted, "wait=60")
	if want := fmt.Sprintf("Bild mit %d Bytes lag vor, Prüfsumme %x.", len(picture.content), sha256.Sum256(picture.content)); !strings.Contains(said, want) {
		t.Errorf("%q is not in the answer to the chat\n%s", want, said)
	}
	if err := mailbox.Deliver(letterWithFiles("m1@example.org", "", "Ausschlag", "Patient P-17 hat Ausschlag, Durchfall; bitte auch BMI berechnen: 82 kg, 1,76 m", picture)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the mail is answered", func() bool { return len(sink.Messages()) == 1 })
	reply := textOf(&sink.Messages()[0])
	for _, want := range []string{
		"Sofort ärztliche Hilfe (Notruf 112) bei: Blut im Stuhl.", fmt.Sprintf("Bild mit %d Bytes lag vor, Prüfsumme %x.", len(picture.content), sha256.Sum256(picture.content)),
		"Das ersetzt keine ärztliche Untersuchung.",
	} {
		if !strings.Contains(reply, want) {
			t.Errorf("%q is not in the reply\n%s", want, reply)
		}
	}
	taken := slices.IndexFunc(i.runs(), func(run workflow.RunHistory) bool { return run.Profile == "practice" })
	run := i.run(i.runs()[taken].ID)
	var filled struct {
		PatientID string   `json:"patient_id"`
		Images    []string `json:"images"`
	}
	if err := json.Unmarshal(run.Tasks[0].Arguments(), &filled); err != nil || filled.PatientID != "P-17" || len(filled.Images) != 1 {
		t.Errorf("diagnose_agent is called with %s, %v", run.Tasks[0].Arguments(), err)
	}
	if len(run.Tasks) != 2 || run.Tasks[0].Agent != "diagnose_agent" || run.Tasks[1].Agent != "chat_agent" || strings.Contains(reply, "26,5") || len(run.Mismatches) != 0 {
		t.Errorf("%+v", run.Tasks)
	}
	i.stop()
	i.verify()
}

// TestPracticeEmergency: the signs of an emergency are answered at once, with the number to call first and without a question, and what is said not
// to be there is none.
func TestPracticeEmergency_G05(t *testing.T) {
	t.Parallel()
	i, _, sink := profileOfPractice(t)
	i.up()
	const told = "Die Praxis hat Ihre Nachricht auch als Mail bekommen. Das ersetzt den Anruf nicht."
	const call, talk = "Rufen Sie sofort den Notruf 112 an", "0800 111 0 111"
	for _, words := range []string{
		"Ich bekomme keine Luft mehr", "Ich bekomme kaum Luft", "Ich kriege schlecht Luft und mir ist schwindelig", "Mein Vater ist bewusstlos",
		"Meine Frau ist ohnmächtig geworden", "Ich habe starke Schmerzen in der Brust, die in den linken Arm ausstrahlen",
		"Gesichtslähmung und kann nicht mehr sprechen", "Ich blute stark", "Meine Tochter hat Tabletten verschluckt", "Ich will nicht mehr leben",
		"Ich habe einen allergischen Schock", "Ich brauche morgen um 9 Uhr einen Termin, ich bekomme keine Luft", "Kein Fieber, aber Atemnot",
	} {
		run, answer := i.answered(words)
		if run.Status != schemas.RunCompleted || !strings.HasPrefix(answer, "Das klingt nach einem Notfall. "+call) || strings.Contains(answer, talk) != strings.Contains(words, "leben") || !strings.Contains(answer, told) {
			t.Errorf("%s\n%s: %q", words, run.Status, answer)
		}
		letters := sink.Messages()
		if last := &letters[len(letters)-1]; !slices.Equal(last.To, []string{"aerztin@praxis.example"}) || !strings.Contains(textOf(last), words) || !strings.Contains(textOf(last), "podium runs show ") {
			t.Errorf("%s: %v is told\n%s", words, last.To, textOf(last))
		}
	}
	i.converses("emergency", "Bitte einen Termin für Anna Weber am 31.03.2099 buchen.", "Um wie viel Uhr?",
		"Ich bekomme keine Luft mehr!", "Das klingt nach einem Notfall. "+call+" und warten Sie nicht auf eine Antwort von hier.\n"+told+"\nDas ersetzt keine ärztliche Untersuchung.")
	letters := len(sink.Messages())
	for words, want := range map[string]string{
		"Ich habe Husten, aber keine Atemnot und kein Fieber.": "Infekt der Atemwege", "Können Sie mir den Weg beschreiben?": "Im Notfall rufen Sie 112",
		"Mein Knie ist heiser.": "Im Notfall rufen Sie 112",
	} {
		if run, answer := i.answered(words); run.Status != schemas.RunCompleted || strings.Contains(answer, call) || !strings.Contains(answer, want) {
			t.Errorf("%s\n%s: %q", words, run.Status, answer)
		}
	}
	if n := len(sink.Messages()); n != letters {
		t.Errorf("%d letters tell of what is no emergency", n-letters)
	}
	i.stop()
	i.verify()
}

// TestPracticeDiagnosisReadsKnowledge: what a person has validated stands in the next answer about such complaints, what is known of one patient does
// not, and whoever takes a message calls one agent, which alone reads. What was asked for first is looked at too.
func TestPracticeDiagnosisReadsKnowledge_G04_G36(t *testing.T) {
	t.Parallel()
	i, _, _ := profileOfPractice(t)
	i.up()
	const known = "Aus dem Wissen der Praxis: "
	if _, answer := i.answered("Ich habe seit gestern einen Hautausschlag am Arm."); strings.Contains(answer, known) || !strings.Contains(answer, "Mögliche Ursachen: ") {
		t.Errorf("before anything is learned: %q", answer)
	}
	i.learns("Bitte in die Wissensdatenbank aufnehmen, ärztlich geprüft: Bei Hautausschlag nach Pilzgerichten an Shiitake denken.")
	i.learns("Bitte in die Wissensdatenbank aufnehmen: Hautausschlag bei P-17 kam vom Nickel.")
	for _, words := range []string{"Ich habe seit gestern einen Hautausschlag am Arm.", "Patient P-17 hat einen Hautausschlag am Arm."} {
		run, answer := i.answered(words)
		for _, want := range []string{known + "Bei Hautausschlag nach Pilzgerichten an Shiitake denken.", "Mögliche Ursachen: Ekzem", "Das ersetzt keine ärztliche Untersuchung."} {
			if !strings.Contains(answer, want) {
				t.Errorf("%s\n%q is not in %q", words, want, answer)
			}
		}
		if strings.Contains(answer, "Nickel") || len(run.Tasks) != 2 || run.Tasks[0].Agent != "diagnose_agent" || run.Tasks[1].Agent != "chat_agent" || len(run.Mismatches) != 0 {
			t.Errorf("%s\n%q by %+v", words, answer, run.Tasks)
		}
	}
	if _, answer := i.answered("Was sagt die Wissensdatenbank zu Hautausschlag und Nickel bei P-17?"); strings.Contains(answer, "Nickel") || answer != "1. Bei Hautausschlag nach Pilzgerichten an Shiitake denken." {
		t.Errorf("whoever asks is told %q", answer)
	}
	if run, answer := i.answered("Ich habe Schwindel."); strings.Contains(answer, known) || run.Status != schemas.RunCompleted {
		t.Errorf("what nothing is known of: %s: %q", run.Status, answer)
	}
	if run := i.asksBack("Ich brauche eine Diagnose.", "Welche Beschwerden gibt es?", "Hautausschlag am Arm"); run.Status != schemas.RunCompleted || !strings.Contains(run.Answer[0].Body.Text, "Mögliche Ursachen: Ekzem") {
		t.Errorf("asked first: %s: %+v", run.Status, run.Answer)
	}
	i.stop()
	i.verify()
}

// postsChat sends a message to a channel with its token, waits, and returns what comes back.
func (i *deployment) postsChat(channel string, body []byte, prefer string) string {
	i.t.Helper()
	request, err := http.NewRequestWithContext(i.t.Context(), http.MethodPost, "http://"+i.listen+"/v1/chat/"+channel, bytes.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+strings.Repeat("token", 8))
	request.Header.Set("Prefer", prefer)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		i.t.Fatalf("%d, %v\n%s", response.StatusCode, err, said)
	}
	return string(said)
}

// TestPracticeWithAModel turns on the switch of the profile for a language model by the command in its README. What no keyword decides a model
// on this machine decides, and it words the answers; keywords still ask none, and a model elsewhere is refused.
func TestPracticeWithAModel(t *testing.T) {
	t.Parallel()
	model := modelserver.Start(t, func(call *modelserver.Call) modelserver.Answer {
		switch {
		case call.IsProbe():
			return modelserver.Obeying(call)
		case call.Schema == "":
			return modelserver.Answer{Text: "Das habe ich für Sie zusammengefasst: " + strings.ToUpper(strconv.FormatBool(strings.Contains(call.User, "Ekzem"))), Tokens: 20}
		case strings.Contains(call.User, "vorbeikommen"):
			return modelserver.Answer{Text: `{"next_agent": "calendar_agent", "reasoning": "Es geht um einen Besuch.", "response": ""}`, Tokens: 10}
		}
		return modelserver.Answer{Text: `{"next_agent": "chat_agent", "reasoning": "Eine Frage.", "response": ""}`, Tokens: 10}
	})
	i, _, _ := profileOfPractice(t)
	switched, err := exec.CommandContext(t.Context(), "sed", "-e", "/#ohne$/d", "-e", "s/#mit //", i.config).Output()
	if err != nil {
		t.Fatal(err)
	}
	const ollama = "http://127.0.0.1:11434/v1"
	if strings.Count(string(switched), ollama) != 2 {
		t.Fatalf("the switch names %d models", strings.Count(string(switched), ollama))
	}
	i.write("podium.yaml", strings.Replace(string(switched), ollama, "https://93.184.216.34/v1", 1))
	if refused := i.podium("check", "-c", i.config); refused.code != exitUsage || !strings.Contains(refused.stderr, "egress does not lead there") {
		t.Errorf("a model elsewhere: %d\n%s", refused.code, refused.stderr)
	}
	i.write("podium.yaml", strings.ReplaceAll(string(switched), ollama, model.URL))
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	if run, answer := i.answered("Gibt es bei Ihnen einen Parkplatz?"); run.Tasks[0].Agent != "chat_agent" || answer != "Das habe ich für Sie zusammengefasst: FALSE" {
		t.Errorf("%s: %q", run.Tasks[0].Agent, answer)
	}
	asked := len(model.Calls())
	if run, answer := i.answered("Patient Müller hat Juckreiz"); len(run.Tasks) != 2 || run.Tasks[0].Agent != "diagnose_agent" || !strings.HasSuffix(answer, "\n\nDas habe ich für Sie zusammengefasst: TRUE") {
		t.Errorf("%+v: %q", run.Tasks, answer)
	}
	for _, call := range model.Calls()[asked:] {
		if call.Schema != "" {
			t.Errorf("a model is asked who does what keywords decide: %s", call.Body)
		}
		if call.Model != "mistral" {
			t.Errorf("the model %s is asked", call.Model)
		}
	}
	i.podium("send", "Ich müsste einmal vorbeikommen.").succeeds(t)
	eventually(t, "the agent that the model has chosen asks what it needs", func() bool {
		return strings.Contains(i.podium("inbox", "-o", "json").succeeds(t).stdout, "Soll ein Termin vereinbart, verschoben oder abgesagt werden?")
	})
	i.stop()
	i.verify()
}

// TestPracticeStore: what the store of the practice does takes effect once, whatever is repeated, and finds things by names as people write them.
func TestPracticeStore_G11(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "lager.db")
	ask := func(effect, arguments string) (said string, code int) {
		command := exec.CommandContext(t.Context(), "/usr/bin/python3", filepath.Join(practiceProfile, "lager.py"))
		command.Env = []string{"LAGER=" + store, "PODIUM_EFFECT=" + effect, "PYTHONIOENCODING=utf-8"}
		command.Stdin = strings.NewReader(`{"payload":{"tasks":[{"context":{"arguments":` + arguments + `}}]}}`)
		out, err := command.CombinedOutput()
		if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
			t.Fatal(err)
		}
		return string(out), command.ProcessState.ExitCode()
	}
	for _, c := range []struct {
		effect, arguments, says string
		code                    int
	}{
		{"e1", `{"action":"order","item_data":{"item":"spritzen","quantity":5}}`, "auf der Bestellliste 5", 0},
		{"e1", `{"action":"order","item_data":{"item":"spritzen","quantity":5}}`, "auf der Bestellliste 5", 0},
		{"e2", `{"action":"update","item_data":{"item":"ÜBERSCHUHE","quantity":7}}`, "Überschuhe: 7 Packung im Lager", 0},
		{"e3", `{"action":"check","item_data":{"item":"Spritze"}}`, "Spritzen: 30 Packung", 0},
		{"e4", `{"action":"order","item_data":{"item":"Spritzen","quantity":5,"unit":"Liter"}}`, "in der Einheit Packung geführt, nicht in Liter", 65},
		{"e5", `{"action":"check","item_data":{"item":"Einhorn"}}`, "gibt es im Lager nicht", 65},
		{"", `{"action":"order","item_data":{"item":"Spritzen","quantity":5}}`, "fehlt ihr Schlüssel", 64},
	} {
		if said, code := ask(c.effect, c.arguments); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit code %d, %s", c.arguments, code, said)
		}
	}
}
