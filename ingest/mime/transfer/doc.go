// Package transfer undoes the Content-Transfer-Encodings of mail (RFC 2045,
// section 6), and uuencode.
//
// It never fails on data: what is malformed is passed over or through, and noted
// as a defect. encoding/base64 and mime/quotedprintable end at the first
// malformed byte, and know no words that a list has put below the data.
package transfer
