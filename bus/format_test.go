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
	if err := bus.CheckFormat(strconv.Itoa(bus.Format)); err != nil {
		t.Error(err)
	}
	for said, advice := range map[string]string{
		"":                             "begin a new ledger",
		strconv.Itoa(bus.Format - 1):   "begin a new ledger",
		strconv.Itoa(bus.Format + 1):   "begin a new ledger",
		"99999999999999999999":         "no valid number",
		"-1":                           "no valid number",
		strconv.Itoa(bus.Format) + " ": "no valid number",
	} {
		if err := bus.CheckFormat(said); !errors.Is(err, bus.ErrFormat) || bus.Temporary(err) || !strings.Contains(err.Error(), advice) {
			t.Errorf("%q: %v, want ErrFormat that says %q", said, err, advice)
		}
	}
}
