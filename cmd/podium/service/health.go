package service

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"podium/bus/embedded/recovery"
	"podium/cmd/podium/activity"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/ledgerwatch"
	"podium/ingest/chat"
	"podium/ingest/imap"
)

// mailboxHealth is a mailbox on the health page.
type mailboxHealth struct {
	Account     string     `json:"account"`
	Mailbox     string     `json:"mailbox"`
	Healthy     bool       `json:"healthy"`
	Connected   bool       `json:"connected"` // it proves nothing
	LastSuccess *time.Time `json:"last_success,omitempty"`
	Silent      bool       `json:"silent"`
	Lag         int        `json:"lag"`
	Gaps        int        `json:"gaps"`
	Failed      int        `json:"failed"`
	// LedgerRebuilt is when the mailbox ledger was lost, or a part of it, and made again.
	LedgerRebuilt *time.Time `json:"ledger_rebuilt,omitempty"`
	Trust         imap.Trust `json:"trust,omitempty"`
	Problem       string     `json:"problem,omitempty"`
	// CanarySeconds is how long the newest canary was under way; CanaryOverdue
	// says that one has not come in.
	CanarySeconds float64 `json:"canary_seconds,omitempty"`
	CanaryOverdue bool    `json:"canary_overdue,omitempty"`
}

// health answers 200 when the ledger answers, every agent of this process is served
// and every mailbox was read to its end lately, without gaps, else 503, with the
// parts.
func (s *Service) health(w http.ResponseWriter, r *http.Request) {
	report := struct {
		OK     bool   `json:"ok"`
		Ledger string `json:"ledger"` // "ok", or what is the matter
		ledgerwatch.Health
		Durability
		Agents    []agentHealth    `json:"agents"`
		Mailboxes []mailboxHealth  `json:"mailboxes"`
		Answers   activity.Answers `json:"answers"`          // since the process has started
		Losses    []recovery.Loss  `json:"losses,omitempty"` // over the ledger's life
	}{Losses: s.Ledger.Lost(), OK: true, Ledger: "ok", Durability: s.Durability(), Agents: s.agentHealth(), Mailboxes: []mailboxHealth{}, Answers: s.activity.Answers()}
	ctx, stop := context.WithTimeout(r.Context(), 2*time.Second)
	defer stop()
	var takes bool
	report.Ledger, report.Health, takes = s.watcher.Health(ctx)
	report.OK = takes
	if open := installation.SortLosses(report.Losses, nil).Open; len(open) > 0 && report.Ledger == ledgerwatch.Well {
		report.Ledger = open[0].String() // it works on without that
	}
	for i := range report.Agents {
		report.OK = report.OK && report.Agents[i].Healthy
	}
	for _, adapter := range s.adapters {
		status := adapter.Status()
		mailbox := healthOf(&status)
		report.OK = report.OK && mailbox.Healthy
		report.Mailboxes = append(report.Mailboxes, mailbox)
	}
	w.Header().Set("Content-Type", "application/json")
	if !report.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err := json.NewEncoder(w).Encode(report); err != nil {
		s.log.Debug().Err(err).Msg("health report not delivered")
	}
}

func healthOf(status *imap.Status) mailboxHealth {
	mailbox := mailboxHealth{
		Account: status.Account, Mailbox: status.Mailbox,
		// A mailbox that was never read yet is not well, however young the adapter is.
		Healthy:   status.Healthy() && !status.LastSuccess.IsZero(),
		Connected: status.Connected, Silent: status.Silent, Lag: status.Lag, Gaps: status.Gaps, Failed: status.Failed,
		Trust: status.Trust, Problem: status.Problem,
		CanarySeconds: status.Canary.RoundTrip.Seconds(), CanaryOverdue: status.Canary.Overdue,
	}
	if !status.LastSuccess.IsZero() {
		mailbox.LastSuccess = &status.LastSuccess
	}
	if !status.Rebuilt.IsZero() {
		mailbox.LedgerRebuilt = &status.Rebuilt
	}
	return mailbox
}

// metrics serves what the adapters and the gate count, and how the process is, in the text format of Prometheus.
func (s *Service) metrics(chats *chat.Adapter, more ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&mailMetrics{adapters: func() []*imap.Adapter { return s.adapters }}, &chatMetrics{adapter: chats}, gateMetrics{s.gate}, ledgerwatch.Metrics{Of: s.watcher}, answerMetrics{s.activity},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(more...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// mailMetrics reads the adapters when it is asked.
type mailMetrics struct{ adapters func() []*imap.Adapter }

type mailMetric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*imap.Status) float64
}

func (m *mailMetrics) all() []mailMetric {
	return []mailMetric{
		{"podium_mail_lag", "Messages that are known of and not dealt with.", prometheus.GaugeValue, func(s *imap.Status) float64 { return float64(s.Lag) }},
		{"podium_mail_gaps", "Messages that the server has and nothing accounts for.", prometheus.GaugeValue, func(s *imap.Status) float64 { return float64(s.Gaps) }},
		{"podium_mail_failed", "Messages that could not be had.", prometheus.GaugeValue, func(s *imap.Status) float64 { return float64(s.Failed) }},
		{"podium_mail_healthy", "1 when mail that comes now would be dealt with.", prometheus.GaugeValue, func(s *imap.Status) float64 { return truth(healthOf(s).Healthy) }},
		{"podium_mail_last_success_seconds", "When everything was last dealt with, in seconds since 1970; 0 is never.", prometheus.GaugeValue, func(s *imap.Status) float64 { return seconds(s.LastSuccess) }},
		{"podium_mail_ledger_rebuilt_seconds", "When the mailbox ledger was lost, or a part of it, and made again from the events, in seconds since 1970; 0 is never.", prometheus.GaugeValue, func(s *imap.Status) float64 { return seconds(s.Rebuilt) }},
		{"podium_mail_canary_round_trip_seconds", "How long the newest canary was under way.", prometheus.GaugeValue, func(s *imap.Status) float64 { return s.Canary.RoundTrip.Seconds() }},
		{"podium_mail_published_total", "Events over the life of the mailbox.", prometheus.CounterValue, func(s *imap.Status) float64 { return float64(s.Published) }},
		{"podium_mail_recovered_total", "Gaps that were closed over the life of the mailbox.", prometheus.CounterValue, func(s *imap.Status) float64 { return float64(s.Recovered) }},
	}
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

func seconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}

func (m mailMetric) description() *prometheus.Desc {
	return prometheus.NewDesc(m.name, m.help, []string{"account", "mailbox"}, nil)
}

func (m *mailMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, metric := range m.all() {
		out <- metric.description()
	}
}

func (m *mailMetrics) Collect(out chan<- prometheus.Metric) {
	for _, adapter := range m.adapters() {
		status := adapter.Status()
		for _, metric := range m.all() {
			out <- prometheus.MustNewConstMetric(metric.description(), metric.kind, metric.value(&status), status.Account, status.Mailbox)
		}
	}
}
