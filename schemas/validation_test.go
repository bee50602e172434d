package schemas

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"podium/schemas/validation"
)

// Each file is a JSON Schema by the meta-schema of draft 2020-12, which the
// compiler checks.
func TestSchemasCompile(t *testing.T) {
	t.Parallel()
	compiled, err := compileSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if compiled[SchemaID(name)] == nil || document(t, name)["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s is not compiled by draft 2020-12", name)
		}
	}
}

func TestUnknownSchema(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "nothing", "../schemas/error", "error.schema.json", "/etc/passwd"} {
		if _, err := Schema(name); err == nil {
			t.Errorf("there is a schema %q", name)
		}
		var blames *validation.Error
		if err := Validate(name, []byte("{}")); err == nil || errors.As(err, &blames) {
			t.Errorf("%q: %v blames the message", name, err)
		}
	}
}

// The verdict names the same place every time, whatever order the library walks in.
func TestVerdictIsStable(t *testing.T) {
	t.Parallel()
	body := []byte(`{"message_id":1,"from":2,"to":3,"type":4,"timestamp":5,"in_reply_to":6,"payload":{"status":7,"plan_id":8,"deliverables":[{},{}]}}`)
	want := "invalid message at /from: is of type number, want string"
	for range 50 {
		if err := Validate(EnvelopeTypeExecutionResponse, body); err == nil || err.Error() != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
}

// No verdict quotes what the message says (G-37).
func TestVerdictQuotesNothing_G37(t *testing.T) {
	t.Parallel()
	const secret = "Erika-Mustermann"
	for name := range readers() {
		for _, body := range golden(t, name, "valid") {
			for _, place := range places(t, body) {
				changed := splice(body, place.start, place.end, []byte(`"`+secret+`"`))
				for _, err := range []error{Validate(name, changed), decoders()[name](changed)} {
					if err != nil && strings.Contains(err.Error(), secret) {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}

// A body that is deeper or longer than any message is refused or read, never a crash.
func TestValidateHostileBodies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		strings.Repeat("[", 100_000), strings.Repeat(`{"payload":`, 100_000),
		`{"payload":{"resource_usage":{"time_elapsed_seconds":1e` + strings.Repeat("9", 1000) + `}}}`,
		`{"payload":{"resource_usage":{"time_elapsed_seconds":` + strings.Repeat("9", 100_000) + `}}}`,
		"\xef\xbb\xbf{}", "", " ", "\x00",
	} {
		for name := range readers() {
			if hand, library := decoders()[name]([]byte(body)), Validate(name, []byte(body)); hand == nil || library == nil {
				t.Errorf("%s accepts %.40q: %v, %v", name, body, hand, library)
			}
		}
	}
}

func TestValidateConcurrently(t *testing.T) {
	t.Parallel()
	body := golden(t, EnvelopeTypeProgressUpdate, "valid")["testdata/progress_update/valid/documented.json"]
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := Validate(EnvelopeTypeProgressUpdate, body); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
