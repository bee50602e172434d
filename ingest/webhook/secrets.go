package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
)

// SigningKeys are always as many as a channel may have, random ones for those it
// has not, so that the time to check says nothing about the channel.
type SigningKeys [MaxSecrets][]byte

// DecoyKeys returns keys that nobody knows.
func DecoyKeys() SigningKeys {
	var keys SigningKeys
	for i := range keys {
		keys[i] = make([]byte, sha256.Size)
		_, _ = rand.Read(keys[i]) // never fails
	}
	return keys
}

// Signed reports whether a signature was made over the parts, one behind the other, with one
// of the keys, in constant time.
func (k *SigningKeys) Signed(signature []byte, parts ...[]byte) bool {
	valid := false
	for _, key := range k {
		if hmac.Equal(signature, sign(key, parts...)) {
			valid = true
		}
	}
	return valid
}

// sign returns the HMAC-SHA256 of the parts.
func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		_, _ = mac.Write(part)
	}
	return mac.Sum(nil)
}

// SharedSecrets are secrets that a request shows as they are. Their hashes are
// compared, so that neither their content nor their length is told by time.
type SharedSecrets [MaxSecrets][sha256.Size]byte

// NewSharedSecrets takes up to MaxSecrets secrets. Errors never repeat one.
func NewSharedSecrets(secrets []string) (SharedSecrets, error) {
	var made SharedSecrets
	for i := range made {
		_, _ = rand.Read(made[i][:]) // never fails
	}
	for i, secret := range secrets {
		if len(secret) < MinToken {
			return made, fmt.Errorf("secret %d has %d characters: at least %d are needed", i+1, len(secret), MinToken)
		}
		made[i] = sha256.Sum256([]byte(secret))
	}
	return made, nil
}

// Known reports whether what a request shows is one of the secrets, in constant time.
func (s *SharedSecrets) Known(shown string) bool {
	sum, found := sha256.Sum256([]byte(shown)), 0
	for i := range s {
		found |= subtle.ConstantTimeCompare(sum[:], s[i][:])
	}
	return found == 1
}
