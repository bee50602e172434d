package schemas

import "testing"

// TestLanguageCheckKeepsProfiles holds that profiles of before texts were judged are the same bytes, so that their hashes are theirs.
func TestLanguageCheckKeepsProfiles(t *testing.T) {
	t.Parallel()
	type part struct {
		Check LanguageCheck `json:"check_language,omitzero"`
	}
	for check, body := range map[LanguageCheck]string{"": `{}`, CheckWords: `{"check_language":true}`, "text1": `{"check_language":"text1"}`} {
		written, err := Marshal(part{check})
		if err != nil || string(written) != body {
			t.Errorf("%q is written %s, %v", check, written, err)
		}
		var read part
		if err := Unmarshal([]byte(body), &read); err != nil || read.Check != check {
			t.Errorf("%s is read as %q, %v", body, read.Check, err)
		}
	}
	var read part
	if err := Unmarshal([]byte(`{"check_language":false}`), &read); err != nil || read.Check != "" {
		t.Errorf("false is read as %q, %v", read.Check, err)
	}
	for _, body := range []string{`{"check_language":1}`, `{"check_language":""}`, `{"check_language":"words"}`, `{"check_language":null}`} {
		if err := Unmarshal([]byte(body), &part{}); err == nil {
			t.Errorf("%s is read", body)
		}
	}
}
