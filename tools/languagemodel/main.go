// Command languagemodel makes the data by which package supervisor/language tells languages apart:
//
//	go mod download github.com/pemistahl/lingua-go@v1.4.0
//	go run ./tools/languagemodel LINGUA STOPWORDS DIRECTORY
//
// LINGUA is the folder of that module, whose models count the sequences of letters of each language; STOPWORDS is the folder
// analysis/lang of github.com/blevesearch/bleve/v2, which has the lists of their most frequent small words. One file a language is written
// to DIRECTORY. A model that has been published stays as it is: another one is written beside it, under another name.
package main

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// unitsPerBit is how finely a probability is kept.
	unitsPerBit = 4
	// How many sequences of two and of three letters are kept of a language: the most frequent.
	pairs, triples = 500, 2200
	maxWord        = 14 // letters of a small word
)

// languages are those that are told apart, by the names that lingua has for them.
func languages() []string {
	return []string{
		"af", "ca", "cs", "cy", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "hr", "hu", "id", "is", "it", "la", "lt", "lv", "nb", "nl", "pl", "pt", "ro", "sk", "sl",
		"sq", "sv", "sw", "tl", "tr", "vi",
	}
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: languagemodel LINGUA STOPWORDS DIRECTORY")
		os.Exit(2)
	}
	for _, language := range languages() {
		if err := write(os.Args[1], os.Args[2], os.Args[3], language); err != nil {
			fmt.Fprintf(os.Stderr, "languagemodel: %s: %v\n", language, err)
			os.Exit(1)
		}
	}
}

// write makes the file of one language: its small words in a line, then the sequences of letters, each line those of one cost.
func write(lingua, stopWords, directory, language string) error {
	var probabilities [3]map[string]float64
	for i, name := range [...]string{"unigrams", "bigrams", "trigrams"} {
		var err error
		if probabilities[i], err = read(filepath.Join(lingua, "language-models", language, name+".pb.bin.zip")); err != nil {
			return err
		}
	}
	named := language
	if named == "nb" {
		named = "no"
	}
	words, err := smallWords(stopWords, named)
	if err != nil {
		return err
	}
	var file strings.Builder
	file.WriteString("words " + strings.Join(words, " ") + "\n")
	letters, two, three := probabilities[0], probabilities[1], probabilities[2]
	joint := func(sequence string) float64 {
		said := []rune(sequence)
		first, pair := string(said[:1]), string(said[:2])
		if len(said) == 2 {
			return letters[first] * two[pair]
		}
		return letters[first] * two[pair] * three[sequence]
	}
	byCost := map[int][]string{}
	keep := func(sequences map[string]float64, most int, weight func(string) float64) {
		kept := slices.SortedFunc(maps.Keys(sequences), func(a, b string) int {
			return cmp.Or(cmp.Compare(weight(b), weight(a)), strings.Compare(a, b))
		})
		for _, sequence := range kept[:min(most, len(kept))] {
			cost := int(math.Round(-math.Log2(sequences[sequence]) * unitsPerBit))
			byCost[cost] = append(byCost[cost], sequence)
		}
	}
	keep(letters, len(letters), func(letter string) float64 { return letters[letter] })
	keep(two, pairs, joint)
	keep(three, triples, joint)
	for _, cost := range slices.Sorted(maps.Keys(byCost)) {
		slices.Sort(byCost[cost])
		fmt.Fprintf(&file, "%d %s\n", cost, strings.Join(byCost[cost], " "))
	}
	return os.WriteFile(filepath.Join(directory, language+".txt"), []byte(file.String()), 0o644)
}

// read returns the conditional probabilities of a model's file: of each sequence, when what stands before its last letter is given.
func read(path string) (probabilities map[string]float64, err error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	if len(archive.File) != 1 {
		return nil, fmt.Errorf("%s: %d files", path, len(archive.File))
	}
	file, err := archive.File[0].Open()
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	const setOfModel, probabilityOfSet, sequenceOfSet = 4, 1, 2
	probabilities = map[string]float64{}
	err = each(body, func(number protowire.Number, set []byte, _ uint64) error {
		if number != setOfModel {
			return nil
		}
		probability := 0.0
		return each(set, func(number protowire.Number, value []byte, bits uint64) error {
			if number == probabilityOfSet {
				probability = math.Float64frombits(bits)
			}
			if number == sequenceOfSet {
				probabilities[string(value)] = probability
			}
			return nil
		})
	})
	return probabilities, err
}

// each calls take with every field of a message: its bytes, or its fixed bits.
func each(message []byte, take func(number protowire.Number, value []byte, bits uint64) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var value []byte
		var bits uint64
		switch kind { //nolint:exhaustive // the others are passed over
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(message)
		case protowire.Fixed64Type:
			bits, n = protowire.ConsumeFixed64(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := take(number, value, bits); err != nil {
			return err
		}
	}
	return nil
}

var (
	list = regexp.MustCompile("(?s)StopWords = \\[\\]byte\\(`(.*?)`\\)")
	word = regexp.MustCompile(`^[\pL\pM]+$`)
)

// smallWords returns the list of a language, sorted; nothing when it has none.
func smallWords(folder, language string) ([]string, error) {
	source, err := os.ReadFile(filepath.Join(folder, language, "stop_words_"+language+".go"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := list.FindSubmatch(source)
	if found == nil {
		return nil, fmt.Errorf("%s: there is no list", language)
	}
	var words []string
	for line := range strings.Lines(string(found[1])) {
		line, _, _ = strings.Cut(line, "|")
		line, _, _ = strings.Cut(line, "#")
		for said := range strings.FieldsSeq(strings.ToLower(line)) {
			if word.MatchString(said) && len([]rune(said)) <= maxWord {
				words = append(words, said)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words), nil
}
