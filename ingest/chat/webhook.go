package chat

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks 1.0.
const (
	headerWebhookID        = "Webhook-Id"
	headerWebhookTimestamp = "Webhook-Timestamp"
	headerWebhookSignature = "Webhook-Signature"
)

const (
	secretPrefix     = "whsec_"
	signatureVersion = "v1,"
	// skew is how far a sender's clock may be off, and how long a captured
	// request can be offered again with a signature that still holds.
	skew = 5 * time.Minute
	// maxSignatures bounds the work that one request can ask for.
	maxSignatures = 16
	// maxSecrets is the one in use and the one before or after it.
	maxSecrets = 2
)

// The bounds of a signing key in bytes, from Standard Webhooks 1.0.
const (
	minKey = 24
	maxKey = 64
)

// minToken is the shortest bearer token, in characters, that is not guessed.
const minToken = 16

var errUnauthentic = errors.New("neither a valid signature nor the channel's token")

// A verifier knows who may send to one channel. It holds the same number of
// keys whatever the channel has, random ones for those it has not, so that the
// time it takes says nothing about the channel.
type verifier struct {
	keys  [maxSecrets][]byte
	token [sha256.Size]byte // of the token
}

// newVerifier reads the secrets of a channel. Errors never repeat a secret.
func newVerifier(secrets []string, token string) (verifier, error) {
	if len(secrets) > maxSecrets {
		return verifier{}, fmt.Errorf("%d secrets: at most %d are allowed, the one in use and its successor", len(secrets), maxSecrets)
	}
	if token != "" && len(token) < minToken {
		return verifier{}, fmt.Errorf("the token has %d characters: at least %d are needed", len(token), minToken)
	}
	made := decoy()
	for i, secret := range secrets {
		key, err := parseSecret(secret)
		if err != nil || len(key) < minKey || len(key) > maxKey {
			return verifier{}, fmt.Errorf("secret %d must be %q and the base64 of %d to %d random bytes", i+1, secretPrefix, minKey, maxKey)
		}
		made.keys[i] = key
	}
	if token != "" {
		made.token = sha256.Sum256([]byte(token))
	}
	return made, nil
}

// parseSecret reads a secret as the libraries of Standard Webhooks do: the
// prefix and the padding may be missing.
func parseSecret(secret string) ([]byte, error) {
	encoded := strings.TrimPrefix(strings.TrimSpace(secret), secretPrefix)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
}

// decoy returns a verifier that nothing satisfies.
func decoy() verifier {
	var made verifier
	for i := range made.keys {
		made.keys[i] = make([]byte, minKey)
		_, _ = rand.Read(made.keys[i]) // never fails
	}
	_, _ = rand.Read(made.token[:])
	return made
}

// verify reports whether the request comes from someone who knows a secret or
// the token. The error is the same whatever was wrong.
func (v *verifier) verify(header http.Header, body []byte, now time.Time) error {
	signed := v.signed(header, body, now)
	if v.bears(header) || signed {
		return nil
	}
	return errUnauthentic
}

// bears reports whether the request bears the channel's token (RFC 6750, section 2.1).
func (v *verifier) bears(header http.Header) bool {
	scheme, token, _ := strings.Cut(header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	same := subtle.ConstantTimeCompare(sum[:], v.token[:]) == 1
	return same && strings.EqualFold(scheme, "Bearer")
}

// signed reports whether one of the signatures was made with one of the keys
// over "id.timestamp.body", not longer ago than skew.
func (v *verifier) signed(header http.Header, body []byte, now time.Time) bool {
	id, timestamp := header.Get(headerWebhookID), header.Get(headerWebhookTimestamp)
	signatures := parseSignatures(header.Get(headerWebhookSignature))
	if id == "" || len(signatures) == 0 || !fresh(timestamp, now) {
		return false
	}
	valid := false
	for _, key := range v.keys {
		want := sign(key, id, timestamp, body)
		for _, signature := range signatures {
			if hmac.Equal(signature, want) {
				valid = true
			}
		}
	}
	return valid
}

func sign(key []byte, id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(id + "." + timestamp + "."))
	_, _ = mac.Write(body)
	return mac.Sum(nil)
}

// parseSignatures returns the signatures of a known version in a list such as
// "v1,<base64> v1a,<base64>"; what is of another version or not base64 is left out.
func parseSignatures(list string) [][]byte {
	var signatures [][]byte
	for word := range strings.FieldsSeq(list) {
		encoded, ok := strings.CutPrefix(word, signatureVersion)
		if !ok {
			continue
		}
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(signature) != sha256.Size {
			continue
		}
		if signatures = append(signatures, signature); len(signatures) == maxSignatures {
			break
		}
	}
	return signatures
}

// fresh reports whether a Unix timestamp in seconds lies within skew of now.
func fresh(timestamp string, now time.Time) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	// Compared in seconds, because a time.Time far off would overflow a Duration.
	limit := int64(skew / time.Second)
	return seconds >= now.Unix()-limit && seconds <= now.Unix()+limit
}
