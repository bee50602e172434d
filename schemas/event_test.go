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
