package carddav

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-vcard"

	"podium/agents/dav"
)

const (
	fieldNumber = "X-PODIUM-NUMBER"
	// fieldEffect marks a contact with the effect that has made or changed it, so that a repeated request knows its own.
	fieldEffect = "X-PODIUM-EFFECT"
)

var errCard = errors.New("a contact cannot be read")

// An entry is a contact as it stands in the address book.
type entry struct {
	Contact
	resource *dav.Resource
	effect   string
	all      Contact // every value of each, one behind the other: what is looked for may be any of them
}

// readCard reads a contact. Broken content may make the library panic, which is no reason to lose the others.
func readCard(resource *dav.Resource) (read entry, err error) {
	defer func() {
		if recover() != nil {
			err = errCard
		}
	}()
	card, err := vcard.NewDecoder(bytes.NewReader(resource.Body)).Decode()
	if err != nil {
		return entry{}, errCard
	}
	plain := func(text string) string { return dav.Plain(strings.ReplaceAll(text, `\;`, ";"), maxField) } // the library leaves these
	read = entry{resource: resource, effect: card.Value(fieldEffect), Contact: Contact{
		Name: plain(nameOf(card)), Phone: plain(number(card.PreferredValue(vcard.FieldTelephone))), Email: plain(card.PreferredValue(vcard.FieldEmail)),
		BirthDate: birthday(card.Value(vcard.FieldBirthday)), Number: plain(card.Value(fieldNumber)),
	}}
	if address := card.Preferred(vcard.FieldAddress); address != nil {
		read.Address = plain(addressOf(address))
	}
	read.all = read.Contact
	read.all.Name = strings.Join(append(card.Values(vcard.FieldName), card.Values(vcard.FieldFormattedName)...), " ")
	read.all.Phone = strings.Join(card.Values(vcard.FieldTelephone), "\n")
	read.all.Email = strings.Join(card.Values(vcard.FieldEmail), "\n")
	for _, address := range card[vcard.FieldAddress] {
		read.all.Address += " " + addressOf(address)
	}
	return read, nil
}

func nameOf(card vcard.Card) string {
	if name := card.PreferredValue(vcard.FieldFormattedName); name != "" {
		return name
	}
	if name := card.Preferred(vcard.FieldName); name != nil {
		parts := components(name, 2)
		return strings.TrimSpace(parts[1] + " " + parts[0])
	}
	return ""
}

// components are the parts of a structured value, at least as many as are wanted. The library would part it at escaped
// semicolons too.
func components(structured *vcard.Field, wanted int) []string {
	parts := strings.Split(strings.ReplaceAll(structured.Value, `\;`, "\x00"), ";")
	for i := range parts {
		parts[i] = strings.TrimSpace(strings.ReplaceAll(parts[i], "\x00", ";"))
	}
	for len(parts) < wanted {
		parts = append(parts, "")
	}
	return parts
}

func addressOf(address *vcard.Field) string {
	const box, extended, street, locality, region, code, country, all = 0, 1, 2, 3, 4, 5, 6, 7
	has := components(address, all)
	place := strings.TrimSpace(has[code] + " " + has[locality])
	parts := []string{has[box], has[extended], has[street], place, has[region], has[country]}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

func number(phone string) string { return strings.TrimPrefix(phone, "tel:") }

// birthday reads both forms of a day; what has no year is none that can be compared.
func birthday(text string) string {
	text, _, _ = strings.Cut(text, "T")
	for _, layout := range [...]string{time.DateOnly, "20060102"} {
		if day, err := time.Parse(layout, text); err == nil {
			return day.Format(time.DateOnly)
		}
	}
	return ""
}

// sameNumber compares two telephone numbers by their digits: one may have the code of the country, the other a zero.
func sameNumber(one, other string) bool {
	a, b := significant(one), significant(other)
	if len(a) > len(b) {
		a, b = b, a
	}
	const enough, code = 6, 3 // digits
	return a == b && a != "" || len(a) >= enough && len(b)-len(a) <= code && strings.HasSuffix(b, a)
}

// significant are the digits of a number without the zeros before it.
func significant(phone string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, strings.ReplaceAll(phone, "(0)", "")), "0")
}

// matches reports whether a contact has all that is looked for.
func (e *entry) matches(looked *Contact) bool {
	samePhone := func(phone string) bool { return phone != "" && sameNumber(phone, looked.Phone) }
	return (looked.Name == "" || dav.Matches(looked.Name, e.all.Name)) &&
		(looked.Phone == "" || slices.ContainsFunc(strings.Split(e.all.Phone, "\n"), samePhone)) &&
		(looked.Email == "" || slices.ContainsFunc(strings.Split(e.all.Email, "\n"), func(email string) bool { return strings.EqualFold(strings.TrimSpace(email), looked.Email) })) &&
		(looked.Address == "" || dav.Matches(looked.Address, e.all.Address)) &&
		(looked.BirthDate == "" || e.BirthDate == looked.BirthDate) &&
		(looked.Number == "" || strings.EqualFold(e.Number, looked.Number))
}
