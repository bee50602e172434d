package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/mapping"
)

const (
	fieldText, fieldParts   = "text", "parts"
	fieldSource, fieldTags  = "source", "tags"
	fieldContext            = "context"
	textWeight, partsWeight = 2, 1
)

// errInUse reports an index that another has open.
var errInUse = errors.New("the index is in use by another process")

// A passage of what was learned.
type passage struct {
	Text    string   `json:"text"`
	Parts   string   `json:"parts"`
	Source  string   `json:"source"`
	Tags    []string `json:"tags"`
	Context string   `json:"context"` // JSON
}

// schema says how passages are read.
func schema() mapping.IndexMapping {
	read := bleve.NewIndexMapping()
	fields := bleve.NewDocumentStaticMapping()
	words, stored, exact := bleve.NewTextFieldMapping(), bleve.NewTextFieldMapping(), bleve.NewTextFieldMapping()
	words.Analyzer = de.AnalyzerName
	stored.Index, stored.IncludeInAll = false, false
	exact.Analyzer = keyword.Name
	parts := *words
	parts.Store = false
	fields.AddFieldMappingsAt(fieldText, words)
	fields.AddFieldMappingsAt(fieldParts, &parts)
	fields.AddFieldMappingsAt(fieldSource, stored)
	fields.AddFieldMappingsAt(fieldContext, stored)
	fields.AddFieldMappingsAt(fieldTags, exact)
	read.DefaultMapping, read.DefaultAnalyzer = fields, de.AnalyzerName
	return read
}

// patience is how long one try to open an index waits for others; between two, whoever asked may have given up.
const patience = 100 * time.Millisecond

// openIndex opens the index once it is known to be whole, and waits for others who have it open. To write, one that is not there is made; to read, it
// is fs.ErrNotExist.
func (a *Agent) openIndex(ctx context.Context, write bool) (index bleve.Index, err error) {
	until := time.Now().Add(a.config.Wait)
	for {
		if err = a.whole(); err == nil || write && errors.Is(err, fs.ErrNotExist) {
			index, err = a.open(write)
		}
		if !errors.Is(err, errInUse) || time.Now().After(until) || ctx.Err() != nil {
			return index, err
		}
	}
}

func (a *Agent) open(write bool) (bleve.Index, error) {
	directory, options := a.config.Directory, map[string]any{"bolt_timeout": min(patience, a.config.Wait).String(), "read_only": !write}
	index, err := bleve.OpenUsing(directory, options)
	if write && errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		if err := makeIndex(directory); err != nil {
			return nil, err
		}
		index, err = bleve.OpenUsing(directory, options)
	}
	switch {
	case errors.Is(err, bleve.ErrorIndexPathDoesNotExist):
		return nil, fs.ErrNotExist
	case err != nil && strings.Contains(err.Error(), "timeout"):
		return nil, fmt.Errorf("%w: %w", errInUse, err)
	case err != nil && !isOfSystem(err):
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return index, err
}

// makeIndex makes an index beside its place, so that there is a whole one or none.
func makeIndex(directory string) error {
	if err := os.MkdirAll(filepath.Dir(directory), 0o700); err != nil {
		return err
	}
	beside, err := os.MkdirTemp(filepath.Dir(directory), "."+filepath.Base(directory)+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(beside) }()
	made := filepath.Join(beside, "index")
	index, err := bleve.New(made, schema())
	if err != nil {
		return err
	}
	if err := index.Close(); err != nil {
		return err
	}
	if err := synced(made); err != nil {
		return err
	}
	if err := os.Rename(made, directory); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return synced(filepath.Dir(directory))
}

// synced has a directory on the disk, with the files in it, but for what lies in other directories.
func synced(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	access := map[string]int{}
	if runtime.GOOS != "windows" { // its directories cannot be synced, and need not be
		access[directory] = os.O_RDONLY
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			access[filepath.Join(directory, entry.Name())] = os.O_RDWR // Windows wants it
		}
	}
	for path, mode := range access {
		file, err := os.OpenFile(path, mode, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// store adds passages under the id of an effect, all at once, unless they are there. It reports how many there are.
func (a *Agent) store(ctx context.Context, effect string, passages []passage) (count int, err error) {
	index, err := a.openIndex(ctx, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	before, err := index.Document(idOf(effect, 0))
	if err != nil || before != nil {
		return len(passages), err
	}
	batch := index.NewBatch()
	for n := range passages {
		if err := batch.Index(idOf(effect, n), passages[n]); err != nil {
			return 0, err
		}
	}
	return len(passages), index.Batch(batch)
}

func idOf(effect string, n int) string { return fmt.Sprintf("%s/%d", effect, n) }

// A finding is a passage that is about a question.
type finding struct {
	ID      string
	Score   float64
	Passage string
	Source  string
	Tags    []string
	Context string // JSON
}

// find returns the passages that fit best, the best first. Of several tags a passage has to have each.
func (a *Agent) find(ctx context.Context, question string, tags []string, most int) (hits []finding, err error) {
	index, err := a.openIndex(ctx, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	text, parts := bleve.NewMatchQuery(question), bleve.NewMatchQuery(question)
	text.SetField(fieldText)
	text.SetBoost(textWeight)
	parts.SetField(fieldParts)
	parts.SetBoost(partsWeight)
	wanted := bleve.NewConjunctionQuery(bleve.NewDisjunctionQuery(text, parts))
	for _, tag := range tags {
		exact := bleve.NewTermQuery(tag)
		exact.SetField(fieldTags)
		wanted.AddQuery(exact)
	}
	asked := bleve.NewSearchRequestOptions(wanted, most, 0, false)
	asked.Fields = []string{fieldText, fieldSource, fieldTags, fieldContext}
	asked.SortBy([]string{"-_score", "_id"})
	found, err := index.SearchInContext(ctx, asked)
	if err != nil {
		return nil, err
	}
	for _, match := range found.Hits {
		hit := finding{ID: match.ID, Score: match.Score, Tags: []string{}}
		hit.Passage, _ = match.Fields[fieldText].(string)
		hit.Source, _ = match.Fields[fieldSource].(string)
		hit.Context, _ = match.Fields[fieldContext].(string)
		switch tags := match.Fields[fieldTags].(type) {
		case string:
			hit.Tags = []string{tags}
		case []any:
			for _, tag := range tags {
				hit.Tags = append(hit.Tags, fmt.Sprint(tag))
			}
		}
		hits = append(hits, hit)
	}
	return hits, nil
}
