package smtpsink

import (
	"bytes"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// xoauth2 is the mechanism of Gmail and Microsoft 365: one message from the
// client, and when it is refused, a challenge that the client answers with nothing.
const xoauth2 = "XOAUTH2"

// tokenServer is the server's half of one authentication.
type tokenServer struct {
	session *session
	refused bool
}

var _ sasl.Server = (*tokenServer)(nil)

// Next implements sasl.Server.
func (t *tokenServer) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case t.refused:
		return nil, true, smtp.ErrAuthFailed
	case response == nil:
		return []byte{}, false, nil
	}
	name, rest, _ := bytes.Cut(response, []byte("\x01auth=Bearer "))
	token := bytes.TrimSuffix(rest, []byte("\x01\x01"))
	config := &t.session.sink.config
	if string(name) == "user="+config.Username && config.Token(string(token)) {
		t.session.user = config.Username
		return nil, true, nil
	}
	t.refused = true
	return []byte(`{"status":"401","schemes":"bearer"}`), false, nil
}
