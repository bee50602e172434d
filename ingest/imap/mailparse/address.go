package mailparse

import (
	"net/mail"
	"strings"

	"podium/schemas"
)

// addresses reads the address lists of every field of a name (RFC 5322, section
// 3.4). A malformed list gives what can be recognized in it.
func addresses(h header, name string, left *int, found *problems) []schemas.Address {
	var list []schemas.Address
	for i := range h {
		if h[i].name != name || h[i].value == "" {
			continue
		}
		value, whole := beginning(h[i].value, *left-len(list))
		list = append(list, addressList(value, found)...)
		if !whole || len(list) > *left {
			found.add(problemAddresses)
		}
	}
	list = list[:min(len(list), *left)]
	*left -= len(list)
	return list
}

// beginning returns at most so many members of a list, and whether that is all.
func beginning(value string, members int) (string, bool) {
	quoted := false
	for i := range len(value) {
		switch value[i] {
		case '"':
			quoted = !quoted && strings.IndexByte(value[i+1:min(len(value), i+maxQuoted)], '"') >= 0
		case ',', ';':
			if quoted {
				continue
			}
			if members--; members <= 0 {
				return value[:i], false
			}
		}
	}
	return value, true
}

const maxQuoted = 1024 // bytes of a name; a longer one has lost its closing quote

// mask hides encoded words from net/mail, which cannot join characters that were
// split over two of them nor read every character set.
const mask = "\uE000?"

func addressList(value string, found *problems) []schemas.Address {
	var list []schemas.Address
	masked := strings.ReplaceAll(toUTF8([]byte(strings.TrimRight(value, " ,")), "", found), "=?", mask)
	if parsed, err := mail.ParseAddressList(masked); err == nil {
		for _, one := range parsed {
			name := words(strings.ReplaceAll(one.Name, mask, "=?"), found)
			list = append(list, schemas.Address{Name: name, Address: strings.Map(visible, one.Address)})
		}
		return list
	}
	malformed := false
	for _, piece := range splitQuoted(strings.ReplaceAll(value, ";", ","), ',') {
		one, ok := looseAddress(piece, found)
		if ok {
			list = append(list, one)
		}
		malformed = malformed || !ok || strings.ContainsAny(one.Address, " \"<>()")
	}
	if malformed || len(list) == 0 {
		found.add(problemAddress)
	}
	return list
}

// looseAddress finds an address in a piece such as `Max Muster (Praxis) <max@example.org`.
func looseAddress(piece string, found *problems) (schemas.Address, bool) {
	name, address := "", strings.TrimSpace(piece)
	if open := strings.LastIndexByte(piece, '<'); open >= 0 {
		name = piece[:open]
		address, _, _ = strings.Cut(piece[open+1:], ">")
	} else if _, inGroup, isGroup := strings.Cut(piece, ":"); isGroup {
		address = strings.TrimSpace(inGroup)
	}
	address = strings.TrimPrefix(strings.Join(strings.Fields(decodeWords(address, found)), ""), "mailto:")
	local, domain, ok := strings.Cut(address, "@")
	if !ok || local == "" || domain == "" || len(address) > maxFieldName*2 {
		return schemas.Address{}, false
	}
	name = words(unquote(strings.TrimSpace(name)), found)
	return schemas.Address{Name: name, Address: strings.Map(visible, address)}, true
}
