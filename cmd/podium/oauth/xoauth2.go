package oauth

import "github.com/emersion/go-sasl"

// XOAUTH2 returns the mechanism that Google and Microsoft offer for SMTP.
func XOAUTH2(username, token string) sasl.Client { return &xoauth2{username: username, token: token} }

type xoauth2 struct{ username, token string }

func (x *xoauth2) Start() (mechanism string, initial []byte, err error) {
	return "XOAUTH2", []byte("user=" + x.username + "\x01auth=Bearer " + x.token + "\x01\x01"), nil
}

// Next implements sasl.Client: the server says why it refuses, and an empty
// answer lets it do so.
func (x *xoauth2) Next([]byte) ([]byte, error) { return []byte{}, nil }
