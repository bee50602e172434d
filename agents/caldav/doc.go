// Package caldav is the agent that keeps appointments in a calendar on a CalDAV server (G-08).
//
// # What it promises
//
//   - One request makes one appointment, however often it is repeated: its address and its UID derive from the effect.
//     So every attempt first looks whether an earlier one has done it.
//   - Nothing is booked over what is in the calendar, recurring and all-day entries included, as far as this agent alone
//     books: a calendar cannot be written on the condition that a time is free. So it works on one request at a time,
//     looks again after it has written, and says when somebody else has booked the same time meanwhile.
//   - Nothing is moved or cancelled that has changed since it was read (If-Match), that is one of several which are
//     meant, or that belongs to a series.
//   - What it cannot read it does not take for free time: a request that touches such a day is refused.
//   - It writes times in UTC, and reads them in the zones that entries name or define. An entry whose zone is unknown takes all
//     times that it may be.
package caldav
