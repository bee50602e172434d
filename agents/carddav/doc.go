// Package carddav is the agent that keeps contacts in an address book on a CardDAV server (G-09).
//
// # What it promises
//
//   - One request makes one contact, however often it is repeated: its address and its UID derive from the effect. So
//     every attempt first looks whether an earlier one has done it.
//   - Nothing is changed or deleted that has changed since it was read (If-Match), or that is one of several which are
//     meant.
//   - Names are compared without case, accents and the spelling of umlauts, by whole words. The server's own search is
//     not used: it knows other words for equal.
//   - A change replaces what is named, and leaves every other line of a contact as it stands, photos included.
//   - A contact that cannot be read is never changed.
package carddav
