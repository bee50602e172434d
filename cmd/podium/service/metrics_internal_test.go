package service

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestMetricsAreLookedAtWhenAsked: a start does not ask the ledger for them, nor wait for it.
func TestMetricsAreLookedAtWhenAsked(t *testing.T) {
	t.Parallel()
	registry, looks := prometheus.NewRegistry(), 0
	registry.MustRegister(collector(func(to metrics) {
		looks++
		to.gauge("podium_test", "Looks.", float64(looks), nil)
	}))
	if looks != 0 {
		t.Errorf("registering looks %d times", looks)
	}
	for want := range 2 {
		found, err := registry.Gather()
		if err != nil || len(found) != 1 || found[0].GetMetric()[0].GetGauge().GetValue() != float64(want+1) {
			t.Errorf("asked for the time %d: %v, %v", want+1, found, err)
		}
	}
}
