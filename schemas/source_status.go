package schemas

import "time"

// A SourceStatus says how an adapter is that watches a place in the world. It is
// heard, not stored: the next one says it again.
type SourceStatus struct {
	Adapter string    `json:"adapter"`
	Account string    `json:"account"`
	Mailbox string    `json:"mailbox,omitzero"`
	Started time.Time `json:"started"`
	// Healthy: the last success is recent, there are no gaps and no canary is
	// overdue. Being connected is no part of it (G-35).
	Healthy     bool        `json:"healthy"`
	Connected   bool        `json:"connected"`
	LastSuccess time.Time   `json:"last_success,omitzero"` // when everything that was there was last dealt with
	Silent      bool        `json:"silent,omitzero"`       // nothing has succeeded for too long
	Lag         int         `json:"lag"`                   // messages that wait
	Gaps        int         `json:"gaps"`                  // messages that nothing accounts for
	Failed      int         `json:"failed"`                // messages that could not be had
	Published   uint64      `json:"published"`             // events over the life of the mailbox
	Trust       SourceTrust `json:"trust,omitzero"`
	Problem     string      `json:"problem,omitzero"` // why the last connection ended; no personal data
	// Canary is when the adapter's message to itself last came through, and how long it took.
	Canary *CanaryStatus `json:"canary,omitzero"`
}

// SourceTrust says how far a server's announcements of new messages are believed.
type SourceTrust string

// The degrees of trust.
const (
	SourcePoll     SourceTrust = "poll"     // it announces nothing, or not everything
	SourceUnproven SourceTrust = "unproven" // it has announced nothing yet
	SourcePush     SourceTrust = "push"     // it announced what came
)

// A CanaryStatus says how an adapter's message to itself fares.
type CanaryStatus struct {
	Sent      time.Time `json:"sent,omitzero"`
	Received  time.Time `json:"received,omitzero"`
	RoundTrip Duration  `json:"round_trip,omitzero"`
	Overdue   bool      `json:"overdue"`
}
