package schemas

import (
	"errors"
	"testing"
)

func TestEventValidate(t *testing.T) {
	t.Parallel()
	complete := Event{ID: "1", Source: "/podium/echo", Type: TypeControl}
	if err := complete.Validate(); err != nil {
		t.Error(err)
	}
	for name, event := range map[string]Event{
		"id":     {Source: "/podium/echo", Type: TypeControl},
		"source": {ID: "1", Type: TypeControl},
		"type":   {ID: "1", Source: "/podium/echo"},
	} {
		if err := event.Validate(); !errors.Is(err, ErrInvalidEvent) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestAnswerText(t *testing.T) {
	t.Parallel()
	failure := &Error{Message: map[string]string{"en": "The summary failed.", "de": "Die Zusammenfassung ist fehlgeschlagen."}}
	for name, test := range map[string]struct {
		parts   []string
		failure *Error
		want    string
	}{
		"nothing":         {nil, nil, ""},
		"parts":           {[]string{" 42\n", "", "Short."}, nil, "42\n\nShort."},
		"failure":         {nil, failure, "Die Zusammenfassung ist fehlgeschlagen."},
		"failure, a part": {[]string{"42"}, failure, "Die Zusammenfassung ist fehlgeschlagen.\n\n42"},
	} {
		if got := AnswerText(test.parts, test.failure, "de"); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestUnmarshalIsStrict(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"duplicate name": `{"action":"cancel","action":"cancel"}`,
		"invalid UTF-8":  "{\"action\":\"\xff\"}",
		"two values":     `{"action":"cancel"}{}`,
		"a duration":     `1`,
	} {
		if err := Unmarshal([]byte(body), new(Control)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	var control Control
	if err := Unmarshal([]byte(`{"ACTION":"cancel","future":1}`), &control); err != nil || control.Action != "" {
		t.Errorf("names are matched by case: %+v, %v", control, err)
	}
	if err := Unmarshal([]byte(`{"queue":"soon","work":"1s"}`), new(Deadlines)); err == nil {
		t.Error("soon is a duration")
	}
}
