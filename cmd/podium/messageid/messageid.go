// Package messageid makes the Message-IDs of answers and knows them again: what the
// agent that sends mail and the adapter that takes it in have in common.
//
// An id is <effect>.<run>.<mac>@domain, or <effect>.<run>.<k>.<mac>@domain for the k-th
// question to a person in a run. The mac is proof that the letter was sent here, by that
// account for that profile, so that an answer to it belongs to the session of the run.
package messageid

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"podium/schemas"
)

// macSize is the length of a mac, in bytes: 160 bits of HMAC-SHA256, which are 32
// characters.
const macSize = 20

// effectVersion is that of effect ids, which are made of names (RFC 9562, section 5.5).
const effectVersion = 5

// alphabet survives mail systems that change the case of letters.
func alphabet() *base32.Encoding {
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
}

// A Signer makes and checks the part of Message-IDs before the "@". It is safe for use
// by several goroutines at once.
type Signer struct{ derived func() ([]byte, error) }

// New returns a signer. It asks for its key when it is needed first; of the same key
// other things may be made elsewhere.
func New(key func() ([]byte, error)) *Signer {
	return &Signer{derived: sync.OnceValues(func() ([]byte, error) {
		key, err := key()
		if err == nil && len(key) < sha256.Size {
			err = fmt.Errorf("a key of %d bytes signs nothing", len(key))
		}
		return sum(key, "podium message-id"), err
	})}
}

// Check reports whether there is a key to work with.
func (s *Signer) Check() error {
	_, err := s.derived()
	return err
}

// A Source is whose letters are meant. An id of one is worth nothing to another.
type Source struct {
	Account string
	Profile string
}

// Sign returns what stands before the "@" of the Message-ID of a letter: the same for
// every attempt under one key. The effect and the run are as Podium makes them
// (schemas.EffectID, schemas.RunID). Errors: schemas.ErrInvalidID, and those of the key.
func (s *Signer) Sign(from Source, effect string, letter schemas.Letter) (string, error) {
	if _, _, err := schemas.ParseRunID(letter.Run); err != nil || !isEffect(effect) || letter.Inquiry < 0 {
		return "", fmt.Errorf("%w: effect %q of run %q", schemas.ErrInvalidID, effect, letter.Run)
	}
	derived, err := s.derived()
	if err != nil {
		return "", err
	}
	named := effect + "." + letter.Run
	if letter.Inquiry > 0 {
		named += "." + strconv.Itoa(letter.Inquiry)
	}
	return named + "." + mac(derived, from, named), nil
}

// Letter returns which letter of ours a Message-ID names. It may be in any
// case, since some relays change it. It reports false of what was not signed here for
// that source with this key, and when there is no key.
func (s *Signer) Letter(from Source, messageID string) (letter schemas.Letter, ours bool) {
	left, _, found := strings.Cut(messageID, "@")
	if len(left) > maxLeft {
		return schemas.Letter{}, false
	}
	left = lower(left)
	letter, signed, ok := split(left)
	if !ok || !found {
		return schemas.Letter{}, false
	}
	derived, err := s.derived()
	if err != nil || !hmac.Equal([]byte(signed), []byte(mac(derived, from, strings.TrimSuffix(left, "."+signed)))) {
		return schemas.Letter{}, false
	}
	return letter, true
}

// maxLeft bounds what is looked at: two UUIDs, two numbers and a mac are shorter.
const maxLeft = 200

// Made reports whether what stands before the "@" of a Message-ID has a form that is
// given here: an effect id, when there was no key to sign with, or one with run and mac. The mac
// may be of another key.
func Made(left string) bool {
	if isEffect(left) {
		return true
	}
	if len(left) > maxLeft {
		return false
	}
	_, _, ok := split(lower(left))
	return ok
}

// split takes the part before the "@" apart, and returns what follows the effect.
func split(left string) (letter schemas.Letter, mac string, ok bool) {
	parts := strings.Split(left, ".")
	if len(parts) != 3 && len(parts) != 4 {
		return schemas.Letter{}, "", false
	}
	letter.Run, mac = parts[1], parts[len(parts)-1]
	if _, _, err := schemas.ParseRunID(letter.Run); err != nil || !isEffect(parts[0]) || len(mac) != alphabet().EncodedLen(macSize) {
		return schemas.Letter{}, "", false
	}
	if len(parts) == 4 {
		k, err := strconv.Atoi(parts[2])
		if err != nil || k < 1 || strconv.Itoa(k) != parts[2] {
			return schemas.Letter{}, "", false
		}
		letter.Inquiry = k
	}
	if decoded, err := alphabet().DecodeString(mac); err != nil || len(decoded) != macSize {
		return schemas.Letter{}, "", false
	}
	return letter, mac, true
}

// isEffect reports the one spelling of an effect id. Programs of people make UUIDs too,
// at random, in upper case or without hyphens.
func isEffect(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.Version() == effectVersion && id.String() == text
}

// lower folds ASCII only: no other letter may become one of an id.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, text)
}

// mac is over everything that is named. The parts are told apart by a byte that stands
// in no name.
func mac(key []byte, from Source, named string) string {
	return alphabet().EncodeToString(sum(key, from.Account+"\x00"+from.Profile+"\x00"+named)[:macSize])
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text))
	return h.Sum(nil)
}
