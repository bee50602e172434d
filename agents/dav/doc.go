// Package dav is what the agents of calendars and address books share: a client of a CalDAV or CardDAV server
// (RFC 4918, 4791, 6352), and what they say of its troubles.
//
// Guarantees:
//
//   - Credentials go to one origin: scheme, host and port of the configured URL. What names another one, in an
//     address of a listing or in a redirect, is refused before anything is sent there.
//   - A resource is made only where none is (If-None-Match), and changed or deleted only as it was read (If-Match).
//   - Nothing is sent twice by the client itself. Whoever has written and has not heard the answer looks (Client.Settle).
//   - Times in queries are UTC.
//   - No error holds a path on the server, or what the server has said.
package dav
