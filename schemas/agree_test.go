package schemas

import (
	"bytes"
	"errors"
	"testing"

	"podium/schemas/validation"
)

// readers are our own checks without the rules that no schema can say.
func readers() map[string]func([]byte) error {
	return map[string]func([]byte) error{
		EnvelopeTypeExecutionRequest:  func(body []byte) error { _, err := readRequest(body); return err },
		EnvelopeTypeExecutionResponse: func(body []byte) error { _, err := readResponse(body); return err },
		EnvelopeTypeProgressUpdate:    func(body []byte) error { _, err := readProgress(body); return err },
	}
}

// agree compares the verdict of our own check with the library's.
func agree(t *testing.T, name string, body []byte) {
	t.Helper()
	hand, library := readers()[name](body), validate(name, body)
	if (hand == nil) != (library == nil) {
		t.Errorf("%s\nhand:    %v\nlibrary: %v", body, hand, library)
	}
	for _, err := range []error{hand, library} {
		var invalid *validation.Error
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%s\nerror of type %T: %v", body, err, err)
		}
	}
}

// replacements are put in the place of every value of every example.
func replacements() [][]byte {
	var values [][]byte
	for _, text := range []string{
		`null`, `true`, `false`, `""`, `" "`, `"x"`, `"completed"`, `"COMPLETED"`, `{}`, `[]`, `[null]`, `[""]`, `["a","a"]`, `[{}]`,
		`{"a":null}`, `{"":""}`, `{"a":1,"a":2}`, `0`, `-0`, `-0.0`, `1`, `1.0`, `1e0`, `1e2`, `1E+2`, `100.0`, `100.5`, `101`, `-1`, `-1e-400`,
		`1e-400`, `1e999`, `-1e999`, `9007199254740991`, `9007199254740992`, `1.00000000000000000001`, `1e12`, `1000000000000.5`, `01`, `+1`, `.5`,
		`1.`, `0x1`, `NaN`, `"2026-01-31T12:00:00Z"`, `"2026-01-31T12:00:00z"`, `"2026-01-31t12:00:00Z"`, `"2026-01-31 12:00:00Z"`,
		`"2026-02-30T12:00:00Z"`, `"2026-01-31T24:00:00Z"`, `"2026-01-31T12:00:60Z"`, `"2016-12-31T23:59:60Z"`, `"2026-01-31T12:00:00"`,
		`"2026-01-31T12:00:00,5Z"`, `"2026-01-31T12:00:00.123456789123Z"`, `"2026-01-31T12:00:00.Z"`, `"2026-01-31T12:00:00+23:59"`,
		`"2026-01-31T12:00:00+24:00"`, `"0000-01-01T00:00:00Z"`, `"0001-01-01T00:00:00Z"`, `"0001-01-01T00:00:00+01:00"`, `"9999-12-31T23:59:59-01:00"`,
		`"10000-01-01T00:00:00Z"`, `"0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6f"`, `"0B7C1E9E-6D0E-4C1B-9F5E-1A2B3C4D5E6F"`, `"0b7c1e9e6d0e4c1b9f5e1a2b3c4d5e6f"`,
		`"{0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6f}"`, `"0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6g"`, `"0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6\u0066"`,
		`"\ud83d\ude00"`, `"\ud83d"`, `"\u0000"`, "\"\xff\"", "\"\x01\"", `"a-b_9"`, `"A"`, `"a.b"`, `"a\n"`,
	} {
		values = append(values, []byte(text))
	}
	for _, letter := range []string{"a", "ü", "😀"} {
		for _, count := range []int{63, 64, 256, 257} {
			values = append(values, []byte(`"`+string(bytes.Repeat([]byte(letter), count))+`"`))
		}
	}
	return values
}

// Every value of every example, replaced by every doubtful one, gets the same
// verdict from both; so does the example without each of its members, and cut
// off after each of its bytes.
func TestReadersAgreeWithLibrary_X06(t *testing.T) {
	t.Parallel()
	for name := range readers() {
		for _, verdict := range []string{"valid", "invalid"} {
			for path, body := range golden(t, name, verdict) {
				t.Run(path, func(t *testing.T) {
					t.Parallel()
					agree(t, name, body)
					for cut := range body {
						if cut%7 == 0 {
							agree(t, name, body[:cut])
						}
					}
					if verdict == "invalid" {
						return
					}
					for _, place := range places(t, body) {
						for _, value := range replacements() {
							agree(t, name, splice(body, place.start, place.end, value))
						}
						agree(t, name, splice(body, place.from, place.end, []byte(`"other":0`)))
					}
				})
			}
		}
	}
}

func splice(body []byte, start, end int, value []byte) []byte {
	return append(append(append([]byte(nil), body[:start]...), value...), body[end:]...)
}

func fuzzAgreement(f *testing.F, name string) {
	f.Helper()
	for _, verdict := range []string{"valid", "invalid"} {
		for _, body := range golden(f, name, verdict) {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, name, body) })
}

func FuzzExecutionRequestAgrees(f *testing.F)  { fuzzAgreement(f, EnvelopeTypeExecutionRequest) }
func FuzzExecutionResponseAgrees(f *testing.F) { fuzzAgreement(f, EnvelopeTypeExecutionResponse) }
func FuzzProgressUpdateAgrees(f *testing.F)    { fuzzAgreement(f, EnvelopeTypeProgressUpdate) }

// What a decoder accepts, it hands over without loss: written again and read
// again it is the same.
func FuzzExecutionResponseRoundTrip(f *testing.F) {
	for _, body := range golden(f, EnvelopeTypeExecutionResponse, "valid") {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		response, err := DecodeExecutionResponse(body)
		if err != nil {
			return
		}
		written, err := Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeExecutionResponse(written)
		if err != nil {
			t.Fatalf("%s\nwritten as %s: %v", body, written, err)
		}
		if twice, err := Marshal(again); err != nil || !bytes.Equal(written, twice) {
			t.Fatalf("%s\nthen %s (%v)", written, twice, err)
		}
	})
}

// Hand is what the hot path does, library what it would cost without it, and
// unchecked what reading costs when nothing is checked.
func BenchmarkDecode(b *testing.B) {
	unchecked := map[string]func([]byte) error{
		EnvelopeTypeExecutionRequest:  func(body []byte) error { return Unmarshal(body, new(ExecutionRequest)) },
		EnvelopeTypeExecutionResponse: func(body []byte) error { return Unmarshal(body, new(ExecutionResponse)) },
		EnvelopeTypeProgressUpdate:    func(body []byte) error { return Unmarshal(body, new(ProgressUpdate)) },
	}
	for name, hand := range decoders() {
		for _, example := range []string{"minimal", "documented"} {
			body := golden(b, name, "valid")["testdata/"+name+"/valid/"+example+".json"]
			for way, read := range map[string]func([]byte) error{
				"hand": hand, "unchecked": unchecked[name],
				"library": func(body []byte) error { return validate(name, body) },
			} {
				b.Run(name+"/"+example+"/"+way, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if err := read(body); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
