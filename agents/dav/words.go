package dav

import (
	_ "embed"

	"podium/schemas/sentences"
)

//go:embed words.json
var wordsFile []byte

type words = sentences.Catalog

func readWords() (words, error) { return sentences.Read(wordsFile) }
