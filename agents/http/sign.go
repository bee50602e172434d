package http

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	nethttp "net/http"
	"strconv"
	"strings"
)

// parseSecret reads a Standard Webhooks secret: base64, with or without "whsec_".
func parseSecret(text string) ([]byte, error) {
	encoded := strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(text), "whsec_"), "=")
	key, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, errors.New(`the secret is not base64 with an optional "whsec_" before it`)
	}
	return key, nil
}

// sign sets the headers of Standard Webhooks 1.0; the signature alone needs a secret. It covers the id, the
// moment in seconds and the body, byte for byte.
func (a *Agent) sign(header nethttp.Header, id string, body []byte) {
	seconds := strconv.FormatInt(a.config.Now().Unix(), 10)
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", seconds)
	if a.key == nil {
		return
	}
	mac := hmac.New(sha256.New, a.key)
	_, _ = mac.Write([]byte(id + "." + seconds + "."))
	_, _ = mac.Write(body)
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
