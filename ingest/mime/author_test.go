package mime_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"podium/ingest/mime"
	"podium/ingest/mime/trust"
	"podium/schemas"
)

// An author is what a From or a Reply-To is read as.
type author struct {
	field string
	want  []schemas.Address
	// trusted is whether what the server says of the author's domain counts. What
	// does not count is marked, and said to be a problem.
	trusted bool
	problem bool // trusted, and yet malformed
}

func is(name, address string) []schemas.Address {
	return []schemas.Address{{Name: name, Address: address}}
}

// authors are fields in which tim@provider.example, or whoever the standard reads,
// stands. Nobody else is ever an author.
func authors() []author {
	tim := is("", "tim@provider.example")
	named := is("Tim", "tim@provider.example")
	return []author{
		// The grammar of RFC 5322, section 3.4.
		{field: "tim@provider.example", want: tim, trusted: true},
		{field: "Tim <tim@provider.example>", want: named, trusted: true},
		{field: "  Tim\t< tim@provider.example >  ", want: named, trusted: true},
		{field: "tim@provider.example (Tim)", want: named, trusted: true},
		{field: "(Tim) <tim@provider.example>", want: named, trusted: true},
		{field: "<tim@provider.example> (Tim)", want: named, trusted: true},
		{field: `Tim(A nice \) chap) <tim(his account)@provider.example(his host)>`, want: named, trusted: true},
		{field: "tim(his (own) account)@provider.example(host)", want: is("host", "tim@provider.example"), trusted: true},
		{field: `"Tim, the \"other\" <one>" <tim@provider.example>`, want: is(`Tim, the "other" <one>`, "tim@provider.example"), trusted: true},
		{field: `"tim"@provider.example`, want: tim, trusted: true},
		{field: `"vic tim"@provider.example`, want: is("", `"vic tim"@provider.example`), trusted: true},
		{field: `"a@b\"c"@provider.example`, want: is("", `"a@b\"c"@provider.example`), trusted: true},
		{field: "tim@[192.0.2.1]", want: is("", "tim@[192.0.2.1]")},
		{field: "Tim <tim@[IPv6:2001:db8::1]>", want: is("Tim", "tim@[IPv6:2001:db8::1]")},
		{field: "Office: Tim <tim@provider.example>;", want: named, trusted: true},
		{field: "Office:;", want: nil},
		{field: ", ,tim@provider.example, ,", want: tim, trusted: true},
		{field: "J. R. Tim <tim@provider.example>", want: is("J. R. Tim", "tim@provider.example"), trusted: true},
		{field: "Tim [Office] <tim@provider.example>", want: is("Tim [Office]", "tim@provider.example"), trusted: true},
		{field: "tim.@provider.example", want: is("", "tim.@provider.example"), trusted: true},
		{field: "t..m@provider.example", want: is("", "t..m@provider.example"), trusted: true},
		{field: "=?utf-8?Q?J=C3=BCrgen?= <tim@provider.example>", want: is("Jürgen", "tim@provider.example"), trusted: true},
		{field: "=?iso-8859-1?Q?J\xfcrgen?= <tim@provider.example>", want: is("Jürgen", "tim@provider.example"), trusted: true},
		{field: "=?utf-8?Q?J\xc3\xbcrgen?= <tim@provider.example>", want: is("Jürgen", "tim@provider.example"), trusted: true},
		{field: "J\xc3\xbcrgen <tim@provider.example>", want: is("Jürgen", "tim@provider.example"), trusted: true},
		{field: "tim@provider.example <tim@provider.example>", want: is("tim@provider.example", "tim@provider.example"), trusted: true},
		{field: "Smith, Tim <tim@provider.example>", want: named, trusted: true, problem: true},

		// What the standard calls obsolete, and what has lost a bracket: the address is
		// what the standard reads, and nobody vouches for it.
		{field: "<@a.example,@b.example:tim@provider.example>", want: tim},
		{field: "Tim <@victim.example:tim@provider.example>", want: named},
		{field: "vic . tim@provider.example", want: is("", "vic.tim@provider.example")},
		{field: `"vic".tim@provider.example`, want: is("", "vic.tim@provider.example")},
		{field: "tim@provider . example", want: tim},
		{field: "tim@provider.example>", want: tim},
		{field: "Tim <tim@provider.example", want: named},
		{field: "Tim <<tim@provider.example>>", want: named},
		{field: "<tim@provider.example> the other", want: tim},
		{field: "<mailto:tim@provider.example>", want: tim},
		{field: "mailto:tim@provider.example", want: tim},
		{field: "Office: tim@provider.example", want: tim},
		{field: `"Tim <tim@provider.example>`, want: is(`"Tim`, "tim@provider.example")},
		{field: "Tim (other <tim@provider.example>", want: is("Tim (other", "tim@provider.example")},
		{field: "victim@bank.example <tim@provider.example>", want: is("victim@bank.example", "tim@provider.example")},
		{field: "tim@provider.example (victim@bank.example)", want: is("victim@bank.example", "tim@provider.example")},
		{field: "tim@provider.example, (victim@bank.example)", want: tim},
		{field: "(victim@bank.example), tim@provider.example", want: tim},
		{field: `"victim@bank.example": tim@provider.example;`, want: tim},
		{field: "(victim@bank.example) Office: tim@provider.example;", want: tim},
		{field: "<tim@provider.example>(,victim@bank.example)", want: is(",victim@bank.example", "tim@provider.example")},
		{field: "=?utf-8?Q?a,victim@bank.example,?= <tim@provider.example>", want: is("a,victim@bank.example,", "tim@provider.example")},
		{field: "\x1b$B<victim@bank.example>\x1b(B", want: is("", "victim@bank.example")},

		// What no grammar allows: nobody.
		{field: "vic tim@provider.example"},
		{field: "vic\ttim@provider.example"},
		{field: "vic(x)tim@provider.example"},
		{field: "tim@provider.example vic"},
		{field: "tim@provider.exam ple"},
		{field: "<vic tim@provider.example>"},
		{field: "Tim <tim@provider. exa mple>"},
		{field: `"vic"tim@provider.example`},
		{field: "victim@bank.example tim@provider.example"},
		{field: "victim@bank.example@provider.example"},
		{field: "<victim@bank.example> <tim@provider.example>"},
		{field: "<@victim.example,tim@provider.example>"},
		{field: "vic\u202etim@provider.example"},
		{field: "vic\u00a0tim@provider.example"},
		{field: "vic\u200btim@provider.example"},
		{field: "vic\x00tim@provider.example"},
		{field: "tim@provider.example\x00.bank.example"},
		{field: "v\xeftim@provider.example"},
		{field: "=?utf-8?Q?vic?=tim@provider.example"},
		{field: "=?utf-8?Q?victim?=@provider.example"},
		{field: "=?utf-8?Q?victim=40bank.example?="},
		{field: "tim@provider.example."},
		{field: "tim@provider..example"},
		{field: "tim@"},
		{field: "@provider.example"},
		{field: `""@provider.example`},
		{field: "tim"},
		{field: "<>"},
		{field: "tim@" + strings.Repeat("x", 600) + ".example"},
	}
}

// TestAuthorIsWhoeverWrote_I23: no author is put together from pieces, and one whom
// another program may read otherwise is not the one who was authenticated, whatever
// the server says.
func TestAuthorIsWhoeverWrote_I23(t *testing.T) {
	t.Parallel()
	for _, test := range authors() {
		for _, verdict := range []string{"dmarc=pass header.from=provider.example", "dmarc=pass", "dkim=pass header.d=provider.example", "spf=pass smtp.mailfrom=provider.example"} {
			raw := crlf("Authentication-Results: "+ours+"; "+verdict, "From: "+test.field, "", "text")
			mail := parseWith(t, raw, mime.Options{AuthServIDs: []string{ours}})
			if !slices.Equal(mail.From, test.want) {
				t.Errorf("%q: got %q, want %q", test.field, mail.From, test.want)
				break
			}
			if strings.Contains(test.field, "@[") {
				continue // readable, and no domain that a verdict could be about
			}
			entries := []string{"@provider.example", "@bank.example", "victim@provider.example"}
			for _, one := range mail.From {
				entries = append(entries, one.Address)
			}
			if mail.Auth.Aligned != test.trusted || trust.Allowed(&mail, entries) != test.trusted {
				t.Errorf("%q with %q: aligned %t, allowed %t", test.field, verdict, mail.Auth.Aligned, trust.Allowed(&mail, entries))
			}
			if test.field == "Office:;" {
				continue // readable, and nobody
			}
			if marked := slices.Contains(mail.Suspicious, "malformed_from"); marked == test.trusted {
				t.Errorf("%q: marked %t: %q", test.field, marked, mail.Suspicious)
			}
			if said := slices.Contains(mail.Problems, "an address list is malformed"); said != (!test.trusted || test.problem) {
				t.Errorf("%q: problems %q", test.field, mail.Problems)
			}
		}
	}
}

// TestRefusalOfADisputedAuthor_I23: that the server says no counts, whoever the
// author is.
func TestRefusalOfADisputedAuthor_I23(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"vic tim@provider.example", "tim@provider.example>", "tim@provider.example, ana@bank.example", "<>"} {
		raw := crlf("Authentication-Results: "+ours+"; dmarc=fail header.from=provider.example; spf=pass smtp.mailfrom=bank.example", "From: "+from, "", "text")
		mail := parseWith(t, raw, mime.Options{AuthServIDs: []string{ours}})
		if want := (schemas.MailAuth{Verdict: schemas.AuthFail, Domain: "provider.example", Method: "dmarc"}); mail.Auth != want {
			t.Errorf("%q: got %+v", from, mail.Auth)
		}
	}
}

// TestAnswersGoWhereTheAuthorSays_I23: a Reply-To that can be read in several ways
// is none.
func TestAnswersGoWhereTheAuthorSays_I23(t *testing.T) {
	t.Parallel()
	for _, test := range authors() {
		mail := parseWith(t, crlf("From: ana@example.org", "Reply-To: "+test.field, "", "text"), mime.Options{})
		var want []schemas.Address
		if test.trusted || strings.Contains(test.field, "@[") {
			want = test.want
		}
		if !slices.Equal(mail.ReplyTo, want) {
			t.Errorf("%q: got %q, want %q", test.field, mail.ReplyTo, want)
		}
		if marked := slices.Contains(mail.Suspicious, "malformed_reply_to"); marked != (len(want) == 0) {
			t.Errorf("%q: marked %t: %q", test.field, marked, mail.Suspicious)
		}
		if len(mail.From) != 1 || slices.Contains(mail.Suspicious, "malformed_from") {
			t.Errorf("%q: the author is %q, %q", test.field, mail.From, mail.Suspicious)
		}
	}
}

// TestRecipientsAreNotMadeUp_I23: the same of those who may get a copy.
func TestRecipientsAreNotMadeUp_I23(t *testing.T) {
	t.Parallel()
	mail := parseWith(t, crlf("From: ana@example.org", "To: vic tim@provider.example, Eva <eva@example.org>, undisclosed", "Cc: <a b@x.example>;c@x.example", "", "x"), mime.Options{})
	if !reflect.DeepEqual(mail.To, is("Eva", "eva@example.org")) || !reflect.DeepEqual(mail.Cc, is("", "c@x.example")) {
		t.Errorf("got %q and %q", mail.To, mail.Cc)
	}
	if !slices.Contains(mail.Problems, "an address list is malformed") || len(mail.Suspicious) > 0 {
		t.Errorf("problems %q, suspicious %q", mail.Problems, mail.Suspicious)
	}
}

// TestNamesOfOctets_I18: a name in an unlabelled set is read by what the whole
// field looks like, since a name alone is short.
func TestNamesOfOctets_I18(t *testing.T) {
	t.Parallel()
	want := []schemas.Address{{Name: "Иван", Address: "a@b.c"}, {Name: "Владимир Петрович Сидоренко", Address: "d@e.f"}, {Name: "Анна", Address: "g@h.i"}}
	written, err := charmap.KOI8R.NewEncoder().String(`Иван <a@b.c>, Владимир Петрович Сидоренко <d@e.f>, "Анна" <g@h.i>`)
	if err != nil {
		t.Fatal(err)
	}
	mail := parseWith(t, crlf("From: ana@example.org", "To: "+written, "", "x"), mime.Options{})
	if !slices.Equal(mail.To, want) {
		t.Errorf("got %q", mail.To)
	}
}
