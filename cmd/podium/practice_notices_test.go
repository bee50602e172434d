package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/agents/dav/radicale"
)

// TestPracticeTellsWhatIsOpen: the line of the README for cron sends whoever looks after the practice what chat_agent alone has answered and what somebody
// wants done with their data, in a letter; a short thank-you is none of it. Where no server takes the letter the words are printed, and it fails.
func TestPracticeTellsWhatIsOpen(t *testing.T) {
	t.Parallel()
	i, _, sink := profileOfPractice(t)
	i.up()
	for _, words := range []string{"Haben Sie einen Parkplatz?", "Vielen Dank!", "Danke, aber wo kann ich parken?", "Bitte löschen Sie alle meine Daten", "BMI berechnen: 82 kg, 1,76 m"} {
		i.answered(words)
	}
	lines := practiceLines(t, "README.md")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "offen.py heute 127.0.0.1:25") })
	if at < 0 {
		t.Fatal("the README has no such line")
	}
	_, line, _ := strings.Cut(lines[at], "&& ") // behind the time and the folder
	run := func(server string) (string, error) {
		command := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.Replace(line, "127.0.0.1:25", server, 1))
		command.Dir = i.folder
		command.Env = append(os.Environ(), "PATH="+filepath.Dir(binary(t))+":/usr/bin:/bin", "PODIUM_DATA="+i.data, "PYTHONIOENCODING=utf-8")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if said, err := run(fmt.Sprintf("127.0.0.1:%d", sink.Port())); err != nil || said != "" {
		t.Fatalf("%v: %s", err, said)
	}
	letter := sink.Messages()[0]
	text := textOf(&letter)
	for _, want := range []string{"nur chat_agent", "Haben Sie einen Parkplatz?", "Danke, aber wo kann ich parken?", "Datenschutz", "Bitte löschen Sie alle meine Daten", "3 von 5 Läufen."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Vielen Dank!") || strings.Contains(text, "BMI") || !slices.Equal(letter.To, []string{"aerztin@praxis.example"}) {
		t.Errorf("%v are told\n%s", letter.To, text)
	}
	if said, err := run("127.0.0.1:1"); err == nil || !strings.Contains(said, "Haben Sie einen Parkplatz?") || !strings.Contains(said, "Die Mail ist nicht angenommen.") {
		t.Errorf("without a server: %v: %s", err, said)
	}
	i.stop()
	i.verify()
}

// TestPracticeDeletesOnePerson: the commands of the README show what calendar and address book have of one person, also what is over, and delete what is chosen
// of it; whoever else has that name stays, and so does everybody else.
func TestPracticeDeletesOnePerson(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	event := func(name, day, summary string) {
		server.Put(t, radicale.Calendar+name+".ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//practice//EN\r\nBEGIN:VTIMEZONE\r\nTZID:X\r\nBEGIN:STANDARD\r\nDTSTART:19701025T030000\r\n"+
			"TZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:"+name+"\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:"+day+"T080000Z\r\nDTEND:"+day+"T082000Z\r\nSUMMARY:"+summary+"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	}
	event("past", "20200330", "Emre Yıldız")
	event("next", "20990330", "Yıldız\\, Emre: Kontrolle wegen\r\n  Blutdruck")
	event("other", "20990331", "Emine Yıldız")
	for name, card := range map[string]string{"one": "Emre Yıldız\r\nBDAY:1980-04-03\r\nTEL:0151", "two": "EMRE YILDIZ\r\nBDAY:1950-01-01", "else": "Anna Weber"} {
		server.Put(t, radicale.Contacts+name+".vcf", "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:"+name+"\r\nN:;;;;\r\nFN:"+card+"\r\nEND:VCARD\r\n")
	}
	remove := func(arguments ...string) (string, bool) {
		command := exec.CommandContext(t.Context(), "/usr/bin/python3", append([]string{"-B", filepath.Join(practiceProfile, "loeschen.py")}, arguments...)...)
		command.Env = []string{"PRAXIS_DAV=" + server.URL + "/praxis/", "PRAXIS_DAV_PASSWORD=" + radicale.Password, "PYTHONIOENCODING=utf-8"}
		out, err := command.CombinedOutput()
		return string(out), err == nil
	}
	const all = "  1  Termin   Yıldız, Emre: Kontrolle wegen Blutdruck 30.03.2099\n  2  Termin   Emre Yıldız 30.03.2020\n" +
		"  3  Kontakt  Emre Yıldız 1980-04-03 0151\n  4  Kontakt  EMRE YILDIZ 1950-01-01\n"
	for _, name := range []string{"Emre Yildiz", "yıldız emre"} {
		if said, ok := remove(name); !ok || said != all+"4 gefunden, 0 gelöscht.\n" {
			t.Errorf("%s: %t\n%s", name, ok, said)
		}
	}
	for _, wrong := range [][]string{{"Emre Yildiz", "5"}, {"Emre Yildiz", "0"}, {"Emre Yildiz", "eins"}, {"  "}, {}} {
		if said, ok := remove(wrong...); ok {
			t.Errorf("%q: %s", wrong, said)
		}
	}
	if said, ok := remove("Emre Yildiz", "1", "2", "3"); !ok || strings.Count(said, "  gelöscht\n") != 3 || !strings.HasSuffix(said, "4 gefunden, 3 gelöscht.\n") {
		t.Errorf("%t\n%s", ok, said)
	}
	if events, cards := server.Names(t, radicale.Calendar, ".ics"), server.Names(t, radicale.Contacts, ".vcf"); !slices.Equal(events, []string{"other.ics"}) || !slices.Equal(cards, []string{"else.vcf", "two.vcf"}) {
		t.Errorf("%v and %v are left", events, cards)
	}
	if said, ok := remove("Emre Yildiz", "alle"); !ok || !strings.HasSuffix(said, "1 gefunden, 1 gelöscht.\n") {
		t.Errorf("%t\n%s", ok, said)
	}
	var lines []string
	for _, line := range practiceLines(t, "README.md") {
		if strings.Contains(line, "loeschen.py") {
			lines = append(lines, line)
		}
	}
	if said, err := json.Marshal(lines); err != nil || len(lines) < 3 {
		t.Errorf("the README says %s, %v", said, err)
	}
}
