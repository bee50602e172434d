package file

import _ "embed"

// wordsFile holds the sentences for people.
//
//go:embed words.json
var wordsFile []byte
