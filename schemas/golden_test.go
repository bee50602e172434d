package schemas

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/schemas/validation"
)

// decoders are our own readers, by the name of their schema.
func decoders() map[string]func([]byte) error {
	return map[string]func([]byte) error{
		EnvelopeTypeExecutionRequest:  func(body []byte) error { _, err := DecodeExecutionRequest(body); return err },
		EnvelopeTypeExecutionResponse: func(body []byte) error { _, err := DecodeExecutionResponse(body); return err },
		EnvelopeTypeProgressUpdate:    func(body []byte) error { _, err := DecodeProgressUpdate(body); return err },
	}
}

func golden(tb testing.TB, name, verdict string) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", name, verdict, "*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if len(paths) == 0 {
		tb.Fatalf("schema %s has no %s example", name, verdict)
	}
	examples := map[string][]byte{}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		examples[path] = body
	}
	return examples
}

func TestGoldenValid_X06(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		for path, body := range golden(t, name, "valid") {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				if err := Validate(name, body); err != nil {
					t.Errorf("schema: %v", err)
				}
				if decode := decoders()[name]; decode != nil {
					if err := decode(body); err != nil {
						t.Errorf("decoder: %v", err)
					}
				}
			})
		}
	}
}

// An invalid example names its error in the file beside it; both checks say
// exactly that.
func TestGoldenInvalid_X06(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		for path, body := range golden(t, name, "invalid") {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				text, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".error")
				if err != nil {
					t.Fatal(err)
				}
				want := strings.TrimSuffix(string(text), "\n")
				checks := []func([]byte) error{func(body []byte) error { return Validate(name, body) }}
				if decode := decoders()[name]; decode != nil {
					checks = append(checks, decode)
				}
				for i, check := range checks {
					err := check(body)
					if _, invalid := errors.AsType[*validation.Error](err); !invalid {
						t.Fatalf("check %d: %v, want a *validation.Error", i, err)
					}
					if err.Error() != want {
						t.Errorf("check %d: got  %s\nwant %s", i, err, want)
					}
				}
			})
		}
	}
}

// Every file under testdata is an example of a schema or the error of one.
func TestGoldenComplete(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		written := folder.Name() == "fuzz" || folder.Name() == "rapid" // by failing tests
		if !written && !slices.Contains(Names(), folder.Name()) {
			t.Errorf("testdata/%s belongs to no schema", folder.Name())
		}
	}
	lonely, err := filepath.Glob(filepath.Join("testdata", "*", "*", "*.error"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lonely {
		if _, err := os.Stat(strings.TrimSuffix(path, ".error") + ".json"); err != nil {
			t.Errorf("%s has no message beside it", path)
		}
	}
}
