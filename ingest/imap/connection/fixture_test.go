package connection_test

import (
	"context"
	"time"

	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
)

// reach is a mailbox that a test waits for with little patience.
func reach(host string, port int) connection.Config {
	return connection.Config{
		Account: "support", Host: host, Port: port, Security: connection.SecurityNone,
		Username:       dovecot.Username,
		Password:       func(context.Context) (string, error) { return dovecot.Password, nil },
		AnswerDeadline: 10 * time.Second,
	}
}
