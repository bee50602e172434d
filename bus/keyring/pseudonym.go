package keyring

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// PseudonymPrefix begins every pseudonym.
	PseudonymPrefix = "h-"
	// asPseudonym keeps a pseudonym from being a signature or a seal of anything.
	asPseudonym Use = "pseudonym"
	// pseudonymBytes is how much of the hash is kept: two of a million values have the same with a chance of 1 in 37 million.
	pseudonymBytes = 8
)

// Pseudonym is what stands in a log for an address, a name or an id: an HMAC-SHA256 of it under the newest key of the
// ledger. Nobody without the key can try values out until one fits. Case and white space around the value make no
// difference.
func (r *Ring) Pseudonym(value string) string {
	_, key := r.Newest(asPseudonym)
	return pseudonymOf(key, value)
}

// Pseudonyms are those of a value under every key that the ledger has, the newest first: older lines of a log have an
// older one.
func (r *Ring) Pseudonyms(value string) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]string, len(r.keys))
	for i := range r.keys {
		all[i] = pseudonymOf(r.keys[i].derive(asPseudonym), value)
	}
	return all
}

func pseudonymOf(key []byte, value string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(strings.ToLower(strings.TrimSpace(value)))) // never fails
	return PseudonymPrefix + hex.EncodeToString(mac.Sum(nil)[:pseudonymBytes])
}
