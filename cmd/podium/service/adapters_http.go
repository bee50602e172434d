package service

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"podium/cmd/podium/config"
	"podium/ingest/cloudevents"
	"podium/ingest/page"
	"podium/ingest/problem"
	"podium/ingest/runs"
	"podium/ingest/webhook"
	"podium/supervisor/session"
)

// openEvents opens the adapter of the event sources. Their runs are read where those of
// the chat channels are.
func (s *Service) openEvents(runs *runs.API) (*cloudevents.Adapter, error) {
	sources := make(map[string]cloudevents.Source, len(s.settings.HTTP.Sources))
	for _, name := range slices.Sorted(maps.Keys(s.settings.HTTP.Sources)) {
		source := s.settings.HTTP.Sources[name]
		made, err := eventSource(&source)
		if err != nil {
			return nil, fmt.Errorf("event source %q: %w", name, err)
		}
		sources[name] = made
	}
	return cloudevents.New(cloudevents.Config{
		Sources: sources, RunURLs: runs.URLs, Supervisor: session.Supervisor,
	}, s.Ledger.Core, s.log)
}

func eventSource(source *config.EventSource) (cloudevents.Source, error) {
	secrets := make([]string, len(source.Secrets))
	for i, secret := range source.Secrets {
		secrets[i] = string(secret)
	}
	verifier, err := webhook.New(secrets, string(source.Token))
	if err != nil {
		return cloudevents.Source{}, err
	}
	types := make(map[string]cloudevents.Type, len(source.Types))
	for name, taken := range source.Types {
		types[name] = cloudevents.Type{Text: taken.Text, PartitionKey: taken.PartitionKey}
	}
	return cloudevents.Source{
		Profile: source.Profile, Verifier: verifier, Types: types, Origins: source.Origins, PerMinute: source.Rate,
	}, nil
}

// mountAdapters adds the pages that stand beside those of the chat channels.
func (s *Service) mountAdapters(mux *http.ServeMux, runs *runs.API) ([]prometheus.Collector, error) {
	sources, err := s.openEvents(runs)
	if err != nil {
		return nil, err
	}
	problem.Mount(mux, "/v1/events/", sources.Handler())
	if err := s.mountPages(mux); err != nil {
		return nil, err
	}
	return []prometheus.Collector{&eventMetrics{adapter: sources}}, nil
}

// mountPages serves the chat pages of the channels that have one.
func (s *Service) mountPages(mux *http.ServeMux) error {
	var channels []string
	for name, channel := range s.settings.Chat.Channels {
		if channel.Page {
			channels = append(channels, name)
		}
	}
	if len(channels) == 0 {
		return nil
	}
	pages, err := page.New(channels)
	if err != nil {
		return err
	}
	mux.Handle("/{$}", pages.Handler())
	problem.Mount(mux, "/chat/", pages.Handler())
	return nil
}

// eventMetrics reads the adapter of the event sources when it is asked.
type eventMetrics struct{ adapter *cloudevents.Adapter }

func (*eventMetrics) description() *prometheus.Desc {
	return prometheus.NewDesc("podium_http_events_total",
		"What came of the events of a source; without a source: requests to sources that do not exist.",
		[]string{"source", "outcome"}, nil)
}

func (m *eventMetrics) Describe(out chan<- *prometheus.Desc) { out <- m.description() }

func (m *eventMetrics) Collect(out chan<- prometheus.Metric) {
	for _, tally := range m.adapter.Tallies() {
		for outcome, count := range map[string]uint64{"accepted": tally.Accepted, "refused": tally.Refused, "failed": tally.Failed} {
			out <- prometheus.MustNewConstMetric(m.description(), prometheus.CounterValue, float64(count), tally.Source, outcome)
		}
	}
}
