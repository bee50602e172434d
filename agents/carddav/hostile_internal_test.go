package carddav

import (
	"strings"
	"testing"
	"time"

	"podium/agents/dav"
)

// TestChangeOfHostileCards: a change is what a reader takes for the preferred value afterwards, and no parameter is torn apart, whatever stands in it.
func TestChangeOfHostileCards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ version, lines, want string }{
		{"4.0", "TEL;PREF=2:111\r\nTEL;PREF=1:222", "TEL;PREF=2:111\r\nTEL;PREF=1:42"},
		{"4.0", "TEL;PREF=1:111\r\nTEL;PREF=2:222", "TEL;PREF=1:42\r\nTEL;PREF=2:222"},
		{"4.0", "TEL:111\r\nTEL;PREF=99:222", "TEL:111\r\nTEL;PREF=99:42"},
		{"3.0", "TEL;TYPE=home:111\r\nTEL;TYPE=\"work,pref\":222\r\nTEL;TYPE=pref:333", "TEL;TYPE=home:111\r\nTEL;TYPE=\"work,pref\":42\r\nTEL;TYPE=pref:333"},
		{"3.0", "TEL;TYPE=home;X-PREFIX=0:111\r\nTEL;TYPE=work;X-PREFIX=49:222", "TEL;TYPE=home:42\r\nTEL;TYPE=work;X-PREFIX=49:222"},
		{"3.0", `TEL;X-LABEL="a;b:c";TYPE=home:111`, "TEL;TYPE=home:42"},
		{"3.0", `TEL;TYPE="x;y";VALUE=uri:tel:111`, `TEL;TYPE="x;y":42`},
		{"3.0", "item1.TEL;TYPE=home:1\r\n 11\r\nitem1.X-ABLabel:a", "item1.TEL;TYPE=home:42\r\nitem1.X-ABLabel:a"},
	} {
		body := "BEGIN:VCARD\r\nVERSION:" + c.version + "\r\nUID:x\r\nFN:Anna\r\nN:;Anna;;;\r\n" + c.lines + "\r\nEND:VCARD\r\n"
		changed, err := changedCard([]byte(body), "effect", &Contact{Phone: "42"}, time.Unix(0, 0))
		if err != nil || !strings.Contains(string(changed), "\r\n"+c.want+"\r\n") {
			t.Errorf("%s: %v\n%s", c.lines, err, changed)
		}
		if read, err := readCard(&dav.Resource{Body: changed}); err != nil || read.Phone != "42" {
			t.Errorf("%s: it is read as %q, %v", c.lines, read.Phone, err)
		}
	}
}
