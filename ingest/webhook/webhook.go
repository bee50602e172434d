package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks 1.0.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// The forms of secrets and signatures (Standard Webhooks 1.0, "Signature scheme").
const (
	secretPrefix    = "whsec_" // a key that both sides have
	publicKeyPrefix = "whpk_"  // the public half of the sender's key
	symmetric       = "v1"     // HMAC-SHA256
	asymmetric      = "v1a"    // Ed25519
)

const (
	// Skew is how far a sender's clock may be off, and how long a captured
	// request can be offered again with a signature that still holds.
	Skew = 5 * time.Minute
	// maxSignatures bounds the work that one request can ask for, and
	// maxAsymmetric the part of it that is a thousand times dearer.
	maxSignatures = 16
	maxAsymmetric = 4
	// MaxSecrets is the one in use and the one before or after it.
	MaxSecrets = 2
)

// The bounds of a signing key in bytes, from Standard Webhooks 1.0.
const (
	minKey = 24
	maxKey = 64
)

// MinToken is the shortest bearer token or plain secret, in characters, that is not guessed.
const MinToken = 16

// A Verifier knows one sender by Standard Webhooks 1.0 or by a bearer token. It holds the
// same number of keys whatever the sender has. It is safe for use by several goroutines at
// once.
type Verifier struct {
	keys   SigningKeys
	public [MaxSecrets]ed25519.PublicKey
	token  [sha256.Size]byte // of the token
}

// New returns what knows a sender by its secrets and its token. A secret is "whsec_"
// and the base64 of 24 to 64 bytes, or "whpk_" and the base64 of an Ed25519 public key.
// Errors never repeat one.
func New(secrets []string, token string) (*Verifier, error) {
	if len(secrets) > MaxSecrets {
		return nil, fmt.Errorf("%d secrets: at most %d are allowed, the one in use and its successor", len(secrets), MaxSecrets)
	}
	if token != "" && len(token) < MinToken {
		return nil, fmt.Errorf("the token has %d characters: at least %d are needed", len(token), MinToken)
	}
	if len(secrets) == 0 && token == "" {
		return nil, errors.New("it has neither a secret nor a token, so that anybody could send")
	}
	made := Decoy()
	for i, secret := range secrets {
		secret = strings.TrimSpace(secret)
		key, err := parseSecret(secret)
		switch {
		case err == nil && strings.HasPrefix(secret, publicKeyPrefix) && len(key) == ed25519.PublicKeySize:
			made.public[i] = key
		case err == nil && !strings.HasPrefix(secret, publicKeyPrefix) && len(key) >= minKey && len(key) <= maxKey:
			made.keys[i] = key
		default:
			return nil, fmt.Errorf("secret %d must be %q and the base64 of %d to %d random bytes, or %q and the base64 of an Ed25519 public key",
				i+1, secretPrefix, minKey, maxKey, publicKeyPrefix)
		}
	}
	if token != "" {
		made.token = sha256.Sum256([]byte(token))
	}
	return made, nil
}

// parseSecret reads a secret as the libraries of Standard Webhooks do: the
// prefix and the padding may be missing.
func parseSecret(secret string) ([]byte, error) {
	encoded := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(secret), secretPrefix), publicKeyPrefix)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
}

// Decoy returns a verifier that nothing satisfies: it stands for senders that do not exist.
func Decoy() *Verifier {
	made := &Verifier{keys: DecoyKeys()}
	for i := range made.public {
		made.public[i], _, _ = ed25519.GenerateKey(rand.Reader) // never fails
	}
	_, _ = rand.Read(made.token[:])
	return made
}

// Claims reports whether the header alone shows what may prove the sender: the token, or a
// fresh signature over a body yet to be read. Where it does not, nobody reads one.
func (v *Verifier) Claims(header http.Header, now time.Time) bool {
	macs, signatures := parseSignatures(header.Get(HeaderSignature))
	signed := header.Get(HeaderID) != "" && len(macs)+len(signatures) > 0 && Fresh(header.Get(HeaderTimestamp), now)
	return v.Reads(header) || signed
}

// Verify reports whether a request comes from somebody who knows a secret: by a signature
// over the raw body, or by the token. It compares in constant time.
func (v *Verifier) Verify(body []byte, header http.Header, now time.Time) bool {
	signed := v.signed(header, body, now)
	return v.Reads(header) || signed
}

// Reads reports whether the request bears the channel's token (RFC 6750, section 2.1).
func (v *Verifier) Reads(header http.Header) bool {
	scheme, token, _ := strings.Cut(header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	same := subtle.ConstantTimeCompare(sum[:], v.token[:]) == 1
	return same && strings.EqualFold(scheme, "Bearer")
}

// signed reports whether one of the signatures was made with one of the keys
// over "id.timestamp.body", not longer ago than skew.
func (v *Verifier) signed(header http.Header, body []byte, now time.Time) bool {
	id, timestamp := header.Get(HeaderID), header.Get(HeaderTimestamp)
	macs, signatures := parseSignatures(header.Get(HeaderSignature))
	if id == "" || len(macs)+len(signatures) == 0 || !Fresh(timestamp, now) {
		return false
	}
	valid, before := false, []byte(id+"."+timestamp+".")
	for _, key := range v.keys {
		want := sign(key, before, body)
		for _, mac := range macs {
			if hmac.Equal(mac, want) {
				valid = true
			}
		}
	}
	if len(signatures) == 0 {
		return valid
	}
	content := slices.Concat(before, body)
	for _, key := range v.public {
		for _, signature := range signatures {
			if ed25519.Verify(key, content, signature) {
				valid = true
			}
		}
	}
	return valid
}

// parseSignatures returns the signatures of a list such as "v1,<base64>
// v1a,<base64>" by their scheme; what is of another version or not base64 is left out.
func parseSignatures(list string) (macs, signatures [][]byte) {
	for word := range strings.FieldsSeq(list) {
		version, encoded, _ := strings.Cut(word, ",")
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case err != nil:
		case version == symmetric && len(decoded) == sha256.Size && len(macs) < maxSignatures:
			macs = append(macs, decoded)
		case version == asymmetric && len(decoded) == ed25519.SignatureSize && len(signatures) < maxAsymmetric:
			signatures = append(signatures, decoded)
		}
	}
	return macs, signatures
}

// Fresh reports whether a Unix timestamp in seconds lies within skew of now.
func Fresh(timestamp string, now time.Time) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	// Compared in seconds, because a time.Time far off would overflow a Duration.
	limit := int64(Skew / time.Second)
	return seconds >= now.Unix()-limit && seconds <= now.Unix()+limit
}
