package header

import (
	"net/mail"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"podium/ingest/mime/defect"
)

func valid(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
	}
}

// FuzzAddresses proves that the number of addresses is bounded, that each has two
// sides, that none is made up, and that nobody else finds another one in a list
// which is not disputed: what net/mail reads is what is read here.
func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{
		"a@b.c", `"Muster, Max" <a@b.c>, e@f.g`, "=?utf-8?Q?M=C3=BC?= <a@b.c>", "group: a@b.c, d@e.f;", "Max <a@b.c", `"\`, "<@a:b@c>", "mailto:a@b.c", "(", "a@b;c@d",
		"vic tim@b.c", "pete(his account)@silly.test(host)", "<@a,@b:user@host>", "a@b.c>", "a@[192.0.2.1]", `"a b"@c.d`, "a@b.c (d@e.f)", "a\u202eb@c.d", "=?utf-8?Q?a=40b?= <c@d>", "((a)b@c",
		"a . b@c . d", "<<a@b>>", "a@b <c@d>", "\x1b$B<a@b>\x1b(B", "g:;", "a@b\x00@c", `"a".b@c`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		left := 10
		list := ParseAddresses(Header{{Name: "to", Value: raw}, {Name: "to", Value: raw}}, "to", &left, &defect.List{}).Mailboxes
		if len(list) > 10 || left != 10-len(list) {
			t.Fatalf("%d addresses, %d left", len(list), left)
		}
		for _, one := range list {
			valid(t, one.Name, one.Address)
			if at := strings.LastIndexByte(one.Address, '@'); at <= 0 || at == len(one.Address)-1 || strings.ContainsFunc(one.Address, isInvisible) || strings.ContainsAny(one.Name, "\r\n\x00") {
				t.Fatalf("address %q", one)
			}
		}
		left = 10
		once := ParseAddresses(Header{{Name: "to", Value: raw}}, "to", &left, &defect.List{})
		if once.Ambiguous {
			return
		}
		for _, one := range once.Mailboxes {
			at := strings.LastIndexByte(one.Address, '@')
			if local, domain := one.Address[:at], one.Address[at+1:]; local[0] != '"' && !strings.Contains(raw, local) || !strings.Contains(raw, domain) {
				t.Fatalf("%q does not stand in %q", one.Address, raw)
			}
		}
		theirs, err := mail.ParseAddressList(raw)
		if err != nil || len(theirs) > 10 || !utf8.ValidString(raw) || strings.ContainsFunc(raw, unicode.IsControl) {
			return
		}
		for i, one := range theirs {
			if i >= len(once.Mailboxes) || plainSpec(once.Mailboxes[i].Address) != one.Address {
				if strings.ContainsFunc(one.Address, isInvisible) || strings.Contains(one.Address, "=?") || len(one.Address) > maxAddress {
					return // it is refused here
				}
				t.Fatalf("%q: got %q, net/mail %q", raw, once.Mailboxes, one.Address)
			}
		}
	})
}

// plainSpec writes an address as net/mail does, without the quotation marks.
func plainSpec(address string) string {
	at := strings.LastIndexByte(address, '@')
	return Unquote(address[:at]) + address[at:]
}

// FuzzDates proves that a date is within its years.
func FuzzDates(f *testing.F) {
	for _, seed := range []string{"Fri, 30 Jan 2026 10:00:00 (EDT) -0400", "1 Jan 70 00:00 EST", "EDT", " ", "(", "1 -0400 EDT", "2026-01-30T10:00:00Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if date, ok := parseDate(value); ok && (date.Year() < 1900 || date.Year() > 9999) || !ok && !date.IsZero() {
			t.Fatalf("%q became %s", value, date)
		}
	})
}

// FuzzIDs proves that an id is one line of bounded length, and that it is not empty.
func FuzzIDs(f *testing.F) {
	for _, seed := range []string{"<a@b> <c@d>", "=?utf-8?Q?=3Ca=40b=3E?= <c@d>", "<=?utf-8?Q?a?=@b>", "a@b", "<", "=?utf-8?B?PGE=?=", "<a =?x?q?b?=>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, id := range messageIDs(value) {
			valid(t, id)
			if id == "" || len(id) > maxMessageID || strings.ContainsAny(id, " \r\n") {
				t.Fatalf("%q gives %q", value, id)
			}
		}
	})
}
