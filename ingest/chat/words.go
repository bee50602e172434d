package chat

import _ "embed"

// wordsFile holds the adapter's own sentences for people.
//
//go:embed words.json
var wordsFile []byte
