package service

import (
	"github.com/prometheus/client_golang/prometheus"

	"podium/ingest/admission"
)

// admissionMetrics reads what the adapters admit when it is asked.
type admissionMetrics struct{ entrance *admission.Control }

type admissionDescriptions struct{ connections, bodies, refused *prometheus.Desc }

func (*admissionMetrics) descriptions() admissionDescriptions {
	return admissionDescriptions{
		connections: prometheus.NewDesc("podium_http_connections", "Open connections of the HTTP adapters.", nil, nil),
		bodies:      prometheus.NewDesc("podium_http_body_bytes", "Bytes of the bodies that the HTTP adapters are receiving.", nil, nil),
		refused:     prometheus.NewDesc("podium_http_refused_total", "Connections and requests that found a limit reached.", []string{"limit"}, nil),
	}
}

func (m *admissionMetrics) Describe(out chan<- *prometheus.Desc) {
	told := m.descriptions()
	out <- told.connections
	out <- told.bodies
	out <- told.refused
}

func (m *admissionMetrics) Collect(out chan<- prometheus.Metric) {
	told, usage := m.descriptions(), m.entrance.Usage()
	out <- prometheus.MustNewConstMetric(told.connections, prometheus.GaugeValue, float64(usage.Connections))
	out <- prometheus.MustNewConstMetric(told.bodies, prometheus.GaugeValue, float64(usage.Bodies))
	for limit, count := range map[string]uint64{
		"connections": usage.Refused.Connections, "stranger_connections": usage.Refused.StrangerConnections,
		"stranger_requests": usage.Refused.StrangerRequests, "bodies": usage.Refused.Bodies, "stranger_bodies": usage.Refused.StrangerBodies,
	} {
		out <- prometheus.MustNewConstMetric(told.refused, prometheus.CounterValue, float64(count), limit)
	}
}
