package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podium/agents/dav/radicale"
	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
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
	return installTree(t, practiceProfile,
		`http: {listen: "127.0.0.1:8080"}`, "", "http://127.0.0.1:5232", dav, "${PRAXIS_DAV_PASSWORD}", radicale.Password,
		"port: 143", fmt.Sprintf("port: %d", imap), "username: praxis, password", "username: agent, password", "poll: 30s", "poll: 1s",
		"since: now", "since: all", "${PRAXIS_MAIL_PASSWORD}", "secret", "port: 25", fmt.Sprintf("port: %d", smtp),
		"${PRAXIS_CHAT_TOKEN}", strings.Repeat("token", 8), "authserv_ids: [praxis.example], ", "",
	)
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
		{"BMI berechnen: 82 kg, 1,76 m", "calculator", "26,5"},
		{"Bitte in die Wissensdatenbank aufnehmen, ärztlich geprüft: Bei Nesselsucht hilft Kühlung.", "rag_learn", "Gelernt: 1 Textstellen."},
		{"Was sagt die Wissensdatenbank zu Nesselsucht?", "rag_read", "Bei Nesselsucht hilft Kühlung."},
	} {
		run, answer := i.answered(c.words)
		if run.Tasks[0].Agent != c.agent || !strings.Contains(answer, c.says) || run.Status != schemas.RunCompleted {
			t.Errorf("%s\n%s by %s: %q", c.words, run.Status, run.Tasks[0].Agent, answer)
		}
		if c.agent == "writer_agent" && (len(run.Tasks[0].Deliverables) != 1 || run.Tasks[0].Deliverables[0].Path != "arztbrief.pdf") {
			t.Errorf("%s\n%+v", c.words, run.Tasks[0].Deliverables)
		}
	}
	for _, c := range []struct{ words, question, answer, says string }{
		{"Bitte einen Termin für Anna Weber am 31.03.2099 buchen.", "Um wie viel Uhr?", "um 10:00", "Der Termin ist eingetragen: 31.03.2099, 10:00 Uhr"},
		{"Bitte eine Bescheinigung erstellen.", "Für welchen Patienten?", "für Anna Weber", ""},
		{"Bitte den BMI berechnen, 82 kg", "Wie groß?", "1,76 m", "26,5"},
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
		{"Bitte in die Wissensdatenbank aufnehmen, ungeprüft: Bei Nesselsucht hilft Kühlung.", "Gelernt wird nur, was ein Mensch geprüft hat."},
	} {
		if run, answer := i.asksInVain(c.words); run.Status != schemas.RunFailed || !strings.Contains(answer, c.says) {
			t.Errorf("%s\n%s: %q", c.words, run.Status, answer)
		}
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
	if err := mailbox.Deliver(letterWithFiles("m1@example.org", "", "Ausschlag", "Patient P-17 hat Ausschlag, Atemnot; bitte auch BMI berechnen: 82 kg, 1,76 m", picture)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the mail is answered", func() bool { return len(sink.Messages()) == 1 })
	reply := textOf(&sink.Messages()[0])
	for _, want := range []string{
		"Sofort ärztliche Hilfe (Notruf 112) bei: Atemnot.", fmt.Sprintf("Bild mit %d Bytes lag vor, Prüfsumme %x.", len(picture.content), sha256.Sum256(picture.content)),
		"Das ersetzt keine ärztliche Untersuchung.",
	} {
		if !strings.Contains(reply, want) {
			t.Errorf("%q is not in the reply\n%s", want, reply)
		}
	}
	run := i.run(i.runs()[0].ID)
	if len(run.Tasks) != 2 || run.Tasks[0].Agent != "diagnose_agent" || run.Tasks[1].Agent != "chat_agent" || strings.Contains(reply, "26,5") || len(run.Mismatches) != 0 {
		t.Errorf("%+v", run.Tasks)
	}
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
