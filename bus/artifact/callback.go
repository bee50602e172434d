package artifact

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"

	"podium/schemas"
)

// purposeCallback is that of what an agent is handed to answer a request later. It is no grant: it is encrypted,
// and opens nothing here.
const purposeCallback purpose = "callback"

// ErrNotSealed reports a token that was not sealed for this agent under a key of the ledger.
var ErrNotSealed = errors.New("the token was not sealed here for this agent")

// SealCallback returns a token of what has to come back with the answer of an agent: AES-256-GCM, bound to the
// agent, with the id of its key before it. It reads as a part of a path. Random nonces allow 2^32 of them under one
// key (NIST SP 800-38D, section 8.3), and a key signs for 90 days.
func (g *Grants) SealCallback(agent string, told any) (string, error) {
	body, err := schemas.Marshal(told)
	if err != nil {
		return "", err
	}
	g.mu.RLock()
	newest := &g.keys[0]
	g.mu.RUnlock()
	aead, err := cipherOf(newest.derived[purposeCallback])
	if err != nil {
		return "", err
	}
	sealed := make([]byte, aead.NonceSize(), aead.NonceSize()+len(body)+aead.Overhead())
	_, _ = rand.Read(sealed) // never fails
	sealed = aead.Seal(sealed, sealed, body, callbackContext(agent))
	return newest.ID + "." + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// OpenCallback reads what was sealed for an agent, with any key that the ledger still has. It fails with
// ErrNotSealed, and does not look at how old the token is.
func (g *Grants) OpenCallback(agent, token string, told any) error {
	id, encoded, _ := strings.Cut(token, ".")
	key := g.key(id, purposeCallback)
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if key == nil || err != nil {
		return ErrNotSealed
	}
	aead, err := cipherOf(key)
	if err != nil {
		return err
	}
	if len(sealed) < aead.NonceSize() {
		return ErrNotSealed
	}
	body, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], callbackContext(agent))
	if err != nil || schemas.Unmarshal(body, told) != nil {
		return ErrNotSealed
	}
	return nil
}

func cipherOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func callbackContext(agent string) []byte { return []byte("podium callback\x00" + agent) }
