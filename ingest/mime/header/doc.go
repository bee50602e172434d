// Package header reads what the fields of a mail say: addresses, dates and ids
// (RFC 5322), parameters (RFC 2045, RFC 2231) and encoded words (RFC 2047).
//
// No value makes it fail. What is malformed is read as far as it can be read in
// one way only, and noted as a defect; no address is ever put together from
// pieces (ADR 47). It does not read header blocks from bytes: structure does.
//
// net/mail and mime are not enough: they refuse a whole list or value for one
// malformed element, and do not say where programs may read it differently.
package header
