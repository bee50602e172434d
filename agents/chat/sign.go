package chat

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// secretPrefix marks a symmetric secret (Standard Webhooks 1.0, "Signature scheme").
const secretPrefix = "whsec_"

// parseSecret reads a Standard Webhooks secret: base64, with or without "whsec_".
func parseSecret(text string) ([]byte, error) {
	encoded := strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(text), secretPrefix), "=")
	key, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("the secret is not base64 with an optional %q before it", secretPrefix)
	}
	if len(key) == 0 {
		return nil, errors.New("the secret is empty")
	}
	return key, nil
}

// sign sets the three headers of Standard Webhooks 1.0. The signature covers
// the id, the timestamp in seconds and the body, byte for byte.
func sign(header http.Header, key []byte, id string, at time.Time, body []byte) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + seconds + "."))
	mac.Write(body)
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", seconds)
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
