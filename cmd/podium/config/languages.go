package config

import (
	"embed"
	"io/fs"

	"podium/schemas"
)

//go:embed languages/*.json
var languageFiles embed.FS

// Languages returns the words for people, one entry a language. The first is the
// one that answers when a text gives no language away.
func Languages() []schemas.Language {
	entries, err := fs.ReadDir(languageFiles, "languages")
	if err != nil {
		panic("config: embedded languages: " + err.Error())
	}
	languages := make([]schemas.Language, 0, len(entries))
	for _, entry := range entries {
		var language schemas.Language
		body, err := languageFiles.ReadFile("languages/" + entry.Name())
		if err == nil {
			err = schemas.Unmarshal(body, &language)
		}
		if err != nil {
			panic("config: embedded language " + entry.Name() + ": " + err.Error())
		}
		if language.Tag == fallbackLanguage {
			languages = append([]schemas.Language{language}, languages...)
		} else {
			languages = append(languages, language)
		}
	}
	return languages
}

const fallbackLanguage = "en"
