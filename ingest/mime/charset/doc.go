// Package charset makes UTF-8 of the bytes of a mail, whatever character set
// they declare, and makes text safe to store and to show.
//
// It never fails and its text is always valid UTF-8. A declared set is believed
// when the bytes fit it; else the bytes are tried as UTF-8, then as the set that
// they look like, then as windows-1252. x/text and go-message decode the single
// sets. They do not guess one, do not repair damaged UTF-8 and do not know UTF-7,
// which is why that is here; x/net/html/charset guesses for pages only.
package charset
