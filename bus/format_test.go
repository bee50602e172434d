package bus_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"podium/bus"
)

// TestCheckFormat: a ledger of another format is refused by name, with what to do.
func TestCheckFormat(t *testing.T) {
	t.Parallel()
	for format := bus.OldestFormat; format <= bus.Format; format++ {
		if err := bus.CheckFormat(strconv.Itoa(format)); err != nil {
			t.Error(err)
		}
	}
	for said, advice := range map[string]string{
		"":                                 "begin a new one",
		strconv.Itoa(bus.OldestFormat - 1): "begin a new one",
		strconv.Itoa(bus.Format + 1):       "use that one",
		"99999999999999999999":             "no number",
		"-1":                               "no number",
		strconv.Itoa(bus.Format) + " ":     "no number",
	} {
		if err := bus.CheckFormat(said); !errors.Is(err, bus.ErrFormat) || bus.Temporary(err) || !strings.Contains(err.Error(), advice) {
			t.Errorf("%q: %v, want ErrFormat that says %q", said, err, advice)
		}
	}
}
