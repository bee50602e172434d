package config

import (
	"embed"
	"errors"
	"io/fs"
	"path/filepath"

	"podium/cmd/podium/diagnostic"
	"podium/ingest/mime/text"
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

// MailLanguages are the languages in which quotations of mail are known: those of
// Podium, and those of the folder that the file names.
func (c *Config) MailLanguages() *text.Languages {
	if c.languages == nil {
		return text.DefaultLanguages()
	}
	return c.languages
}

// readLanguages reads the folder of mail.languages, which is relative to where
// the file lies.
func (c *Config) readLanguages(directory string) error {
	folder := c.Mail.Languages
	if folder == "" {
		return nil
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(directory, folder)
	}
	languages, err := ReadMailLanguages(folder)
	if err != nil && diagnostic.ProblemsOf(err) == nil {
		at := c.places["mail.languages"]
		err = diagnostic.Problems{{File: c.file, Line: at.Line, Column: at.Column, Path: "mail.languages", Message: err.Error()}}
	}
	c.languages = languages
	return err
}

// ReadMailLanguages returns the languages of Podium with those of a folder. What
// is wrong in its files is diagnostic.Problems, each with its line and column.
func ReadMailLanguages(folder string) (*text.Languages, error) {
	languages, err := text.LoadLanguages(folder)
	faults, wrong := errors.AsType[text.LanguageFaults](err)
	if !wrong {
		return languages, err
	}
	problems := make(diagnostic.Problems, len(faults))
	for i, fault := range faults {
		problems[i] = &diagnostic.Problem{File: fault.File, Line: fault.Line, Column: fault.Column, Path: fault.Path, Message: fault.Message}
		if fault.Unknown != "" {
			problems[i].Message = diagnostic.Suggest(fault.Message, fault.Unknown, fault.Known)
		}
	}
	return nil, problems
}
