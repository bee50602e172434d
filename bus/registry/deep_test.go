package registry_test

import (
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
)

// TestNoAnnouncementHidesTheOthers: what an agent announces can be shown among what all others do, however deep it is nested.
func TestNoAnnouncementHidesTheOthers(t *testing.T) {
	t.Parallel()
	for _, member := range []string{`"input_schema":%`, `"output_schema":%`, `"examples":[{"arguments":%}]`} {
		for _, depth := range []int{100, 9990, 9999} {
			ledger := memory.New(1)
			serve(t, ledger, nil)
			say(t, ledger.Worker("echo"), bus.ServiceAnnounce, `{"name":"echo"}`)
			nested := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
			_, err := ledger.Worker("nest").Ask(t.Context(), bus.ServiceAnnounce, []byte("{"+strings.ReplaceAll(member, "%", nested)+"}"))
			if depth == 100 && err != nil {
				t.Errorf("%s, %d deep: %v", member, depth, err)
			}
			if _, err = schemas.Marshal(list(t, ledger)); err != nil {
				t.Errorf("%s, %d deep: nobody is shown any agent: %.120v", member, depth, err)
			}
		}
	}
}
