package mime_test

import (
	"context"
	"fmt"
	"strings"

	"podium/ingest/mime"
)

// The bytes of a mail become an event's data: what is new in it stands apart from what is
// quoted, and the oldest letter that it names is its conversation.
func ExampleParse() {
	const letter = "From: =?utf-8?q?J=C3=BCrgen?= <juergen@example.org>\r\n" +
		"To: desk@example.org\r\n" +
		"Subject: Re: otters\r\n" +
		"Message-ID: <third@example.org>\r\n" +
		"References: <first@example.org> <second@example.org>\r\n" +
		"Content-Type: text/plain; charset=iso-8859-1\r\n" +
		"Content-Transfer-Encoding: quoted-printable\r\n" +
		"\r\n" +
		"Sch=F6n, and how long do they live?\r\n" +
		"\r\n" +
		"> Otters hold hands when they sleep.\r\n"
	mail, err := mime.Parse(context.Background(), strings.NewReader(letter), mime.Options{})
	if err != nil {
		fmt.Println(err) // the reader's error: no mail makes Parse fail
	}
	fmt.Println(mail.From[0].Name, mail.From[0].Address)
	fmt.Println(mail.Text)
	fmt.Println(mail.Quoted)
	fmt.Println(mail.Class, mail.Parse, mime.PartitionKey(&mail))
	// Output:
	// Jürgen juergen@example.org
	// Schön, and how long do they live?
	// > Otters hold hands when they sleep.
	// human ok first@example.org
}
