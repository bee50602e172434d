package service

import (
	"github.com/prometheus/client_golang/prometheus"

	"podium/cmd/podium/activity"
)

// answerMetrics tells what became of answers, when it is asked.
type answerMetrics struct{ of *activity.Feed }

func (answerMetrics) description() *prometheus.Desc {
	return prometheus.NewDesc("podium_answers_total", "Answers by what became of them, since the process has started: sent; failed, which is refused "+
		"for good or given up; withheld; returned, as a mail system reports.", []string{"outcome"}, nil)
}

func (m answerMetrics) Describe(out chan<- *prometheus.Desc) { out <- m.description() }

func (m answerMetrics) Collect(out chan<- prometheus.Metric) {
	counted := m.of.Answers()
	for _, of := range [...]struct {
		outcome string
		count   uint64
	}{{"sent", counted.Sent}, {"failed", counted.Failed}, {"withheld", counted.Withheld}, {"returned", counted.Returned}} {
		out <- prometheus.MustNewConstMetric(m.description(), prometheus.CounterValue, float64(of.count), of.outcome)
	}
}
