// Package validation holds JSON to JSON Schemas (draft 2020-12) and says what is wrong with
// it. It knows JSON Schema, and no message of Podium.
//
// A [Schema] holds any value to any schema. A [Reader] reads into a Go type and checks in
// the same pass, by a schema of the few keywords that the hot messages need. Both give
// the same verdict, and say it as an [Error]: the place and what would be right, without a
// value of the body.
//
// It reads I-JSON (RFC 7493): a duplicate name, invalid UTF-8 or a body that is cut off is
// refused before any schema is asked. It fetches nothing: a schema refers to itself, or to
// those that it is compiled with.
package validation
