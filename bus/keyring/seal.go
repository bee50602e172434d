package keyring

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"

	"podium/schemas"
)

// overhead is the size in bytes of a nonce and a tag (NIST SP 800-38D).
const overhead = 12 + 16

// ErrNotSealed reports a token that was not sealed for this use and holder under a key of the ledger.
var ErrNotSealed = errors.New("the token was not sealed here for this holder")

// Seal returns a token of something that its holder hands back, and can neither read nor change: AES-256-GCM, bound to
// the use and the holder, with the id of its key before it. It reads as a part of a path. Random nonces allow 2^32 of
// them under one key (NIST SP 800-38D, section 8.3), and a key seals for 90 days.
func (r *Ring) Seal(use Use, holder string, told any) (string, error) {
	body, err := schemas.Marshal(told)
	if err != nil {
		return "", err
	}
	id, derived := r.Newest(use)
	aead, err := cipherOf(derived)
	if err != nil {
		return "", err
	}
	sealed := make([]byte, aead.NonceSize(), aead.NonceSize()+len(body)+aead.Overhead())
	_, _ = rand.Read(sealed) // never fails
	sealed = aead.Seal(sealed, sealed, body, boundTo(use, holder))
	return id + "." + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Unseal reads what was sealed for a use and a holder, with any key that the ledger still has: a key that is not known
// here may be another process's, and is looked for once. It does not look at how old the token is.
//
// Errors: ErrNotSealed; those of Refresh, when nobody knows.
func (r *Ring) Unseal(ctx context.Context, use Use, holder, token string, told any) error {
	id, encoded, _ := strings.Cut(token, ".")
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || len(sealed) < overhead {
		return ErrNotSealed
	}
	if r.Foreign(id) {
		if err := r.Refresh(ctx); err != nil {
			return err
		}
	}
	derived := r.Key(id, use)
	if derived == nil {
		return ErrNotSealed
	}
	aead, err := cipherOf(derived)
	if err != nil {
		return err
	}
	body, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], boundTo(use, holder))
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

func boundTo(use Use, holder string) []byte { return []byte("podium " + string(use) + "\x00" + holder) }
