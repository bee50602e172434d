package service

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

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
func (s *Service) mountAdapters(mux *http.ServeMux, runs *runs.API) (*cloudevents.Adapter, error) {
	sources, err := s.openEvents(runs)
	if err != nil {
		return nil, err
	}
	problem.Mount(mux, "/v1/events/", sources.Handler())
	callbacks, err := s.openCallbackAdapter()
	if err != nil {
		return nil, err
	}
	problem.Mount(mux, "/v1/agents/", callbacks.Handler())
	return sources, s.mountPages(mux)
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
