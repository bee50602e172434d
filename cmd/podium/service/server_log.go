package service

import (
	"log"
	"regexp"
	"strings"

	"github.com/rs/zerolog"
)

// A serverLog takes what net/http writes for want of somebody to return it to, such as that no descriptor is left for another
// connection. It implements io.Writer.
type serverLog struct{ log zerolog.Logger }

// remoteAddress is that of a sender, which is personal.
var remoteAddress = regexp.MustCompile(`(?:\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+(?:%[^\]]*)?\])(?::\d+)?`)

// maxServerLine bounds one line, in bytes: a panic comes with its stack.
const maxServerLine = 8 << 10

// Write implements io.Writer: one call is one line of the log.
func (s serverLog) Write(line []byte) (int, error) {
	text := strings.ToValidUTF8(strings.TrimSpace(string(line[:min(len(line), maxServerLine)])), "")
	s.log.Warn().Str("reason", remoteAddress.ReplaceAllString(text, "an address")).Msg("the HTTP server reports a fault")
	return len(line), nil
}

// errorLog returns a logger for http.Server.ErrorLog, whose default writes plain lines to standard error.
func errorLog(to zerolog.Logger) *log.Logger { return log.New(serverLog{to}, "", 0) }
