package binding_test

import (
	"errors"
	"slices"
	"testing"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
)

// TestSealedEvents: keyid, which says that a body is encrypted, is written and read with every
// kind of event, in both modes, and what has it is refused by name: the body is never taken for
// what it is not.
func TestSealedEvents(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		schemas.TypeExecutionRequest, schemas.TypeExecutionResponse, schemas.TypeProgressUpdate, schemas.TypePermitRequest, schemas.TypeEmailReceived,
		schemas.TypeChatReceived, schemas.TypeControl, schemas.TypeQuarantined, schemas.TypeSourceStatus, schemas.TypeRecord, schemas.TypeCheckpoint,
	} {
		for name, stands := range map[string]func(*schemas.Event){
			"in the message":      func(e *schemas.Event) { e.Data, e.DataContentType = []byte{0, 0xff}, "application/octet-stream" },
			"readable by chance":  func(e *schemas.Event) { e.Data = []byte(`{"message_id":"x"}`) },
			"in the object store": func(e *schemas.Event) { e.Data, e.Artifact = nil, &schemas.Artifact{SHA256: hash, Size: 2} },
		} {
			want := fullEvent()
			want.Type, want.KeyID = kind, "person-month 7"
			stands(&want)
			binary, err := binding.Encode("x", &want)
			if err != nil {
				t.Fatal(err)
			}
			if said := binary.Header["ce-keyid"]; !slices.Equal(said, []string{"person-month%207"}) {
				t.Errorf("%s, %s: ce-keyid is %q", kind, name, said)
			}
			structured, err := binding.MarshalStructured(&want)
			if err != nil {
				t.Fatal(err)
			}
			for mode, message := range map[string]bus.Message{"binary": binary, "structured": {Body: structured}} {
				got, err := binding.Decode(message)
				if _, malformed := errors.AsType[*bus.MalformedError](err); !malformed || !errors.Is(err, bus.ErrSealed) {
					t.Errorf("%s, %s, %s: %v, want a MalformedError that is ErrSealed", kind, name, mode, err)
				}
				if !equalEvents(got, want) {
					t.Errorf("%s, %s, %s: %+v, want %+v", kind, name, mode, got, want)
				}
				if _, err = artifact.DecodeWhole(t.Context(), memory.New(1).Artifacts(), message); !errors.Is(err, bus.ErrSealed) {
					t.Errorf("%s, %s, %s: whole: %v, want ErrSealed", kind, name, mode, err)
				}
			}
		}
	}
}
