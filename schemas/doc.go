// Package schemas holds the nouns of Podium and their grammar: what a message
// looks like, what a record of a session says, and in which order facts may
// follow each other. It decides nothing and touches nothing.
//
// The JSON Schema files beside this package (*.schema.json, draft 2020-12) are
// the truth; the Go types match them and a test proves it in both directions.
package schemas
