package service

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"podium/cmd/podium/activity"
	"podium/cmd/podium/ledgerwatch"
	"podium/ingest/admission"
	"podium/ingest/chat"
	"podium/ingest/cloudevents"
	"podium/ingest/imap"
	"podium/schemas"
)

// metrics serves what the adapters and the gate count, and how ledger and process are, in the text format of Prometheus.
// They are looked at when somebody asks.
func (s *Service) metrics(chats *chat.Adapter, events *cloudevents.Adapter, entrance *admission.Control) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(func(to metrics) {
		to.ledger(s.watcher)
		to.mail(s.adapters)
		to.chats(chats.Tallies())
		to.events(events.Tallies())
		to.admission(entrance.Usage())
		to.agents(s.gate.Refused())
		to.registry(s)
		to.answers(s.Activity.Answers())
	}), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// A collector tells metrics to one who asks, and nothing before: not even their names, since
// the ledger would be asked for those too.
type collector func(to metrics)

// Describe implements prometheus.Collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) { c(out) }

// metrics are what is told to one who asks.
type metrics chan<- prometheus.Metric

func (m metrics) gauge(name, help string, value float64, labels prometheus.Labels) {
	m <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.GaugeValue, value)
}

func (m metrics) counter(name, help string, value uint64, labels prometheus.Labels) {
	m <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.CounterValue, float64(value))
}

// ledgerWait bounds the question to the ledger.
const ledgerWait = 2 * time.Second

// ledger tells how much of the ledger's room is used.
func (m metrics) ledger(watcher *ledgerwatch.Watcher) {
	ctx, stop := context.WithTimeout(context.Background(), ledgerWait)
	defer stop()
	said, numbers, takes := watcher.Health(ctx)
	m.gauge("podium_ledger_healthy", "1 while the ledger takes new messages.", truth(takes), nil)
	if said == ledgerwatch.Silent {
		return
	}
	m.gauge("podium_ledger_bytes", "Bytes that the ledger holds.", float64(numbers.Bytes), nil)
	m.gauge("podium_ledger_used_ratio", "What is used of the limit of the fullest shard, of that of the artifacts, or of the disk, whichever is most; "+
		"new messages are refused from 0.9 on.", numbers.Used/100, nil)
	if numbers.Limit > 0 {
		m.gauge("podium_ledger_limit_bytes", "Bytes that the ledger may hold: ledger.max_bytes.", float64(numbers.Limit), nil)
	}
	if numbers.DiskFree != nil {
		m.gauge("podium_ledger_disk_free_bytes", "Bytes that the ledger's disk has left.", float64(*numbers.DiskFree), nil)
	}
}

func (m metrics) mail(adapters []*imap.Adapter) {
	for _, adapter := range adapters {
		status := adapter.Status()
		of := prometheus.Labels{"account": status.Account, "mailbox": status.Mailbox}
		m.gauge("podium_mail_lag", "Messages that are known of and not dealt with.", float64(status.Lag), of)
		m.gauge("podium_mail_gaps", "Messages that the server has and nothing accounts for.", float64(status.Gaps), of)
		m.gauge("podium_mail_failed", "Messages that could not be had.", float64(status.Failed), of)
		m.gauge("podium_mail_healthy", "1 when mail that comes now would be dealt with.", truth(healthOf(&status).Healthy), of)
		m.gauge("podium_mail_last_success_seconds", "When everything was last dealt with, in seconds since 1970; 0 is never.", seconds(status.LastSuccess), of)
		m.gauge("podium_mail_ledger_rebuilt_seconds", "When the mailbox ledger was lost, or a part of it, and made again from the events, in seconds since 1970; 0 is never.", seconds(status.Rebuilt), of)
		m.gauge("podium_mail_canary_round_trip_seconds", "How long the newest canary was under way.", status.Canary.RoundTrip.Seconds(), of)
		m.counter("podium_mail_published_total", "Events over the life of the mailbox.", status.Published, of)
		m.counter("podium_mail_recovered_total", "Gaps that were closed over the life of the mailbox.", status.Recovered, of)
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

func (m metrics) chats(tallies []chat.Tally) {
	for _, tally := range tallies {
		for outcome, count := range map[string]uint64{
			"accepted": tally.Accepted, "repeated": tally.Repeated, "ignored": tally.Ignored,
			"quarantined": tally.Quarantined, "refused": tally.Refused, "failed": tally.Failed,
		} {
			m.counter("podium_chat_messages_total", "What came of the messages of a chat channel; without a channel: requests to channels that do not exist.",
				count, prometheus.Labels{"channel": tally.Channel, "provider": string(tally.Provider), "outcome": outcome})
		}
	}
}

func (m metrics) events(tallies []cloudevents.Tally) {
	for _, tally := range tallies {
		for outcome, count := range map[string]uint64{"accepted": tally.Accepted, "refused": tally.Refused, "failed": tally.Failed} {
			m.counter("podium_http_events_total", "What came of the events of a source; without a source: requests to sources that do not exist.",
				count, prometheus.Labels{"source": tally.Source, "outcome": outcome})
		}
	}
}

func (m metrics) admission(usage admission.Usage) {
	m.gauge("podium_http_connections", "Open connections of the HTTP adapters.", float64(usage.Connections), nil)
	m.gauge("podium_http_body_bytes", "Bytes of the bodies that the HTTP adapters are receiving.", float64(usage.Bodies), nil)
	for limit, count := range map[string]uint64{
		"connections": usage.Refused.Connections, "address_connections": usage.Refused.AddressConnections, "stranger_connections": usage.Refused.StrangerConnections,
		"stranger_requests": usage.Refused.StrangerRequests, "bodies": usage.Refused.Bodies, "stranger_bodies": usage.Refused.StrangerBodies,
	} {
		m.counter("podium_http_refused_total", "Connections and requests that found a limit reached.", count, prometheus.Labels{"limit": limit})
	}
}

// agents tells how often each external agent was refused.
func (m metrics) agents(refused map[string]uint64) {
	for agent, count := range refused {
		m.counter("podium_agent_refused_total", "Messages of an external agent that were refused since the start.", count, prometheus.Labels{"agent": agent})
	}
}

// registry tells how each agent is, as /health does, and what becomes of requests to it.
func (m metrics) registry(s *Service) {
	ctx, stop := context.WithTimeout(context.Background(), ledgerWait)
	defer stop()
	agents, err := s.servedAgents(ctx)
	if err != nil {
		return // the ledger's own figures say so
	}
	now := time.Now()
	for i := range agents {
		agent := &agents[i]
		if agent.State == "" {
			continue // people
		}
		of, counted := prometheus.Labels{"agent": agent.Name}, s.statistics.Agent(agent.Name)
		m.gauge("podium_agent_ok", "1 while the agent can be given work.", truth(agent.State == schemas.AgentOK), of)
		m.gauge("podium_agent_processes", "Processes of the agent that have given a sign of life lately.", float64(agent.Instances), of)
		m.gauge("podium_agent_ready", "Tasks that wait until the agent has room.", float64(counted.Ready), of)
		m.gauge("podium_agent_queued", "Requests that wait for somebody to take them.", float64(agent.queued), of)
		m.gauge("podium_agent_in_flight", "Requests that somebody has taken and not answered.", float64(agent.inFlight), of)
		m.counter("podium_agent_completed_total", "Attempts that were completed, over the ledger's life.", counted.Completed, of)
		m.counter("podium_agent_failed_total", "Attempts that have failed, over the ledger's life.", counted.Failed, of)
		for quantile, share := range map[string]float64{"0.5": 0.5, "0.99": 0.99} {
			labels := prometheus.Labels{"agent": agent.Name, "quantile": quantile}
			m.gauge("podium_agent_queue_seconds", "How long requests waited, over the last one to two days.", counted.Queue.Quantile(now, share).Seconds(), labels)
			m.gauge("podium_agent_work_seconds", "How long requests were worked on, over the last one to two days.", counted.Work.Quantile(now, share).Seconds(), labels)
		}
	}
}

func (m metrics) answers(counted activity.Answers) {
	for outcome, count := range map[string]uint64{"sent": counted.Sent, "failed": counted.Failed, "withheld": counted.Withheld, "returned": counted.Returned} {
		m.counter("podium_answers_total", "Answers by what became of them, since the process has started: sent; failed, which is refused "+
			"for good or given up; withheld; returned, as a mail system reports.", count, prometheus.Labels{"outcome": outcome})
	}
}
