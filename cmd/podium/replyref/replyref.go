// Package replyref makes and opens the capabilities by which an answer finds its
// chat: what an adapter knows and the agent that delivers answers needs.
package replyref

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"podium/schemas"
)

// version begins every reply_ref, so that another way to seal can follow.
const version = 1

// ErrUnusable reports a reply_ref that was not sealed here for this channel, or
// has expired.
var ErrUnusable = errors.New("the reply_ref was not sealed here for this channel, or it has expired")

// A Sealer makes and opens reply_refs: AES-256-GCM over an expiry and the route,
// bound to the channel. Random nonces allow 2^32 of them under one key (NIST SP
// 800-38D, section 8.3). It is safe for use by several goroutines at once.
type Sealer struct{ cipher func() (cipher.AEAD, error) }

// New returns a sealer. It asks for its key, 32 bytes, when it is needed first.
func New(key func() ([]byte, error)) *Sealer {
	return &Sealer{cipher: sync.OnceValues(func() (cipher.AEAD, error) {
		key, err := key()
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCM(block)
	})}
}

// Check reports whether there is a key to work with.
func (s *Sealer) Check() error {
	_, err := s.cipher()
	return err
}

// Seal returns a reply_ref for a channel, which is worth nothing from expires on.
func (s *Sealer) Seal(channel string, route *schemas.ChatRoute, expires time.Time) (string, error) {
	aead, err := s.cipher()
	if err != nil {
		return "", err
	}
	body, err := schemas.Marshal(route)
	if err != nil {
		return "", err
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(expires.Unix())) //nolint:gosec // after 1970
	sealed := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(plain)+len(body)+aead.Overhead())
	sealed[0] = version
	_, _ = rand.Read(sealed[1:]) // never fails
	sealed = aead.Seal(sealed, sealed[1:], append(plain, body...), channelContext(channel))
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open returns what was sealed for a channel. It fails with ErrUnusable.
func (s *Sealer) Open(channel, ref string, now time.Time) (*schemas.ChatRoute, error) {
	aead, err := s.cipher()
	if err != nil {
		return nil, err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(ref)
	if err != nil || len(sealed) < 1+aead.NonceSize() || sealed[0] != version {
		return nil, ErrUnusable
	}
	nonce, sealed := sealed[1:1+aead.NonceSize()], sealed[1+aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, sealed, channelContext(channel))
	if err != nil || len(plain) < 8 || now.Unix() >= int64(binary.BigEndian.Uint64(plain)) { //nolint:gosec // made above
		return nil, ErrUnusable
	}
	var route schemas.ChatRoute
	if err := schemas.Unmarshal(plain[8:], &route); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return &route, nil
}

func channelContext(channel string) []byte { return []byte("podium reply_ref\x00" + channel) }
