package text

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

//go:embed languages/*.json
var languageFiles embed.FS

// builtIn are the languages of this program.
var builtIn = sync.OnceValue(func() *Languages { //nolint:gochecknoglobals // embedded words, read once and never changed
	languages, err := readBuiltIn()
	if err != nil {
		panic(fmt.Sprintf("embedded languages: %v", err)) // a test reads them
	}
	return compile(languages)
})

// DefaultLanguages returns the languages that come with this program.
func DefaultLanguages() *Languages { return builtIn() }

func readBuiltIn() (map[string]vocabulary, error) {
	inside, err := fs.Sub(languageFiles, "languages")
	if err != nil {
		return nil, err
	}
	return readLanguages(inside, "languages")
}

// LoadLanguages returns the languages of this program together with those of a
// folder, in which each file TAG.json is one language. A file replaces the
// language of this program that has its tag. The error is LanguageFaults where
// files are wrong, all of them.
func LoadLanguages(folder string) (*Languages, error) {
	languages, err := readBuiltIn()
	if err != nil {
		return nil, err
	}
	added, err := readLanguages(os.DirFS(folder), folder)
	if err != nil {
		return nil, err
	}
	maps.Copy(languages, added)
	if len(languages) > maxLanguages {
		return nil, LanguageFaults{{File: folder, Message: fmt.Sprintf("with those of the program there are more than %d languages", maxLanguages)}}
	}
	return compile(languages), nil
}

// languageTag is a tag of BCP 47, as far as files are named by it.
var languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)

func readLanguages(folder fs.FS, name string) (map[string]vocabulary, error) {
	entries, err := fs.ReadDir(folder, ".")
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		err = failure.Err // its path is always "."
	}
	if err != nil {
		return nil, fmt.Errorf("read the languages in %s: %w", name, err)
	}
	languages := map[string]vocabulary{}
	var faults LanguageFaults
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue // what an editor or a mount keeps there
		}
		file := filepath.Join(name, entry.Name())
		tag := strings.TrimSuffix(entry.Name(), ".json")
		if path.Ext(entry.Name()) != ".json" || !languageTag.MatchString(tag) {
			faults = append(faults, &LanguageFault{File: file, Message: "a language is a file such as eo.json or pt-BR.json, named by its tag (BCP 47)"})
			continue
		}
		content, err := readBounded(folder, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read the language %s: %w", file, err)
		}
		read, found := readLanguage(file, content)
		languages[tag] = read
		faults = append(faults, found...)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return languages, nil
}

// readBounded reads a file, or one byte more than a language may have.
func readBounded(folder fs.FS, name string) ([]byte, error) {
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxLanguageFile+1))
	return content, errors.Join(err, file.Close())
}
