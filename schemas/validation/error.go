package validation

import (
	"strconv"
	"strings"
)

// An Error says where a body breaks its schema and what would be right. It quotes no value
// of the body, so it may be logged (G-37).
type Error struct {
	Pointer string // JSON Pointer (RFC 6901) into the body; empty is the whole body
	Reason  string // English, one line
}

// Error implements error.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return "invalid message: " + e.Reason
	}
	return "invalid message at " + e.Pointer + ": " + e.Reason
}

// The reasons, in one place, so that both checks say the same of the same fault.
const (
	reasonEmpty = "is empty"
	reasonUUID  = "is not a UUID"
	reasonTime  = "is not an RFC 3339 time such as 2026-01-31T12:00:00Z"
)

func wrongType(got, want string) string { return "is of type " + got + ", want " + want }
func lacks(name string) string          { return "lacks " + strconv.Quote(name) }
func noneOf(allowed []string) string    { return "is not one of: " + strings.Join(allowed, ", ") }
func noMatch(pattern string) string     { return "does not match " + pattern }
func tooLong(limit int) string          { return "is longer than " + strconv.Itoa(limit) + " characters" }

func tooMany(limit int) string     { return "has more than " + strconv.Itoa(limit) + " elements" }
func tooSmall(limit string) string { return "is less than " + limit }
func tooLarge(limit string) string { return "is more than " + limit }
