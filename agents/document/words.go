package document

import _ "embed"

// wordsFile holds the sentences for people, and how their languages write values.
//
//go:embed words.json
var wordsFile []byte
