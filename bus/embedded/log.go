package embedded

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/rs/zerolog"
)

var (
	// clientLine begins every line about one client: address, number, name.
	clientLine = regexp.MustCompile(`^.{0,200}? - [a-z_]{3,6}:\d+(?: - ".*?")* - `)
	// named are the words that a client may have chosen: subjects.
	named  = regexp.MustCompile(`(?:podium|_INBOX[A-Za-z0-9_-]*|_R_|\$[A-Z]+|CORE)\.[^\s"'\],]+`)
	quoted = regexp.MustCompile(`"[^"]*"`)
)

// A serverLog is a server's log. It implements server.Logger.
type serverLog struct {
	logger zerolog.Logger

	mu    sync.Mutex
	first string // the first fatal line: why the server did not start
}

// fatal returns the first line that the server called fatal.
func (l *serverLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

// line renders a line of the server without addresses and subjects. Of a line
// about a client only the fixed words are kept, because the client chose the rest.
func line(format string, args []any) string {
	if format == "%s - %s%s" && len(args) == 3 { // how the server writes a rate-limited one
		return "something about a client happens often"
	}
	if prefix := clientLine.FindString(format); prefix != "" {
		return named.ReplaceAllString(quoted.ReplaceAllString(format[len(prefix):], `"…"`), "…")
	}
	return named.ReplaceAllString(fmt.Sprintf(format, args...), "…")
}

// Noticef implements server.Logger.
func (l *serverLog) Noticef(format string, args ...any) { l.logger.Debug().Msg(line(format, args)) }

// Warnf implements server.Logger.
func (l *serverLog) Warnf(format string, args ...any) { l.logger.Warn().Msg(line(format, args)) }

// Errorf implements server.Logger.
func (l *serverLog) Errorf(format string, args ...any) { l.logger.Error().Msg(line(format, args)) }

// Fatalf implements server.Logger. It does not end the process.
func (l *serverLog) Fatalf(format string, args ...any) {
	text := line(format, args)
	l.mu.Lock()
	if l.first == "" {
		l.first = text
	}
	l.mu.Unlock()
	l.logger.Error().Msg(text)
}

// Debugf implements server.Logger.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef implements server.Logger.
func (l *serverLog) Tracef(string, ...any) {}
