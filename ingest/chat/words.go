package chat

import _ "embed"

// wordsFile holds the door's own sentences for people.
//
//go:embed words.json
var wordsFile []byte
