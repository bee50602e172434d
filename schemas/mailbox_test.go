package schemas_test

import (
	"testing"

	"podium/schemas"
)

// TestSamePerson: one person writes from many addresses, and counts once. What another person may have is another mailbox.
func TestSamePerson(t *testing.T) {
	t.Parallel()
	const anna = "anna@practice.example"
	for _, test := range []struct {
		one, other string
		want       bool
	}{
		{anna, anna, true},
		{anna, "ANNA@Practice.Example", true},
		{anna, "anna+shop@practice.example", true},
		{anna, "anna+a+b@practice.example", true},
		{"anna+x@practice.example", "Anna+Y@practice.example", true},
		{anna, `"anna"@practice.example`, true},
		{anna, "anna@practice.example.", true},
		{anna, " anna@practice.example", true},
		{anna, "anna@sub.practice.example", true},
		{anna, "anna+shop@a.b.practice.example", true},
		{"anna@mail.practice.example", "anna@shop.practice.example", true},
		{"anna@mail.practice.co.uk", "anna@shop.practice.co.uk", true},
		{"anna@müller.example", "anna@xn--mller-kva.example", true},
		{"anna@MÜLLER.example", "anna@müller.example", true},
		{"a.n.n.a@gmail.com", "anna@googlemail.com", true},
		{"an-na@proton.me", "anna+x@pm.me", true},

		{anna, "a.n.n.a@practice.example", false}, // there the dots are part of the name, as far as is known
		{anna, "ben@practice.example", false},
		{anna, "anna@practice.example.org", false},
		{anna, "anna@otherpractice.example", false},
		{"anna@one.co.uk", "anna@other.co.uk", false},
		{"info@one.com.au", "info@other.com.au", false},
		{"anna@one.org", "anna@other.org", false},
		{anna, "+anna@practice.example", false},
		{anna, "\u0430nna@practice.example", false}, // a Cyrillic letter
		{anna, "", false},
		{"", "", false},
		{"anna", "anna", true},
		{"@practice.example", "@sub.practice.example", false},
	} {
		if got := schemas.IsSamePerson(test.one, test.other); got != test.want {
			t.Errorf("%q and %q: %v", test.one, test.other, got)
		}
		if schemas.IsSamePerson(test.other, test.one) != test.want {
			t.Errorf("%q and %q the other way round", test.other, test.one)
		}
	}
}

// TestUnknownRequesterMayBeAnyone: a mail without an author that can be read may be from each address; what came
// another way is from none.
func TestUnknownRequesterMayBeAnyone(t *testing.T) {
	t.Parallel()
	author := &schemas.Author{Address: "ana@practice.example"}
	for _, test := range []struct {
		name    string
		message schemas.Incoming
		want    bool
	}{
		{"mail without an author", schemas.Incoming{Channel: schemas.ChannelEmail}, true},
		{"mail of an author without an address", schemas.Incoming{Channel: schemas.ChannelEmail, Author: &schemas.Author{Name: "Ana"}}, true},
		{"mail", schemas.Incoming{Channel: schemas.ChannelEmail, Author: author}, false},
		{"chat", schemas.Incoming{Channel: schemas.ChannelChat}, false},
		{"request", schemas.Incoming{Channel: schemas.ChannelAgent}, false},
	} {
		if got := test.message.IsRequester("ben@practice.example"); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
