package http

import (
	nethttp "net/http"
	"time"
)

// Sign signs as the agent with that secret does.
func Sign(header nethttp.Header, secret, id string, at time.Time, body []byte) {
	key, err := parseSecret(secret)
	if err != nil {
		panic(err)
	}
	(&Agent{key: key, config: Config{Now: func() time.Time { return at }}}).sign(header, id, body)
}
