package service

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"podium/bus"
	"podium/bus/intake"
)

// ledgerSilent is said of a ledger that cannot be asked.
const ledgerSilent = "does not answer"

// ledgerWell is said of one that is well.
const ledgerWell = "ok"

// roomHealth is how much of the ledger's room is used, on the health page.
type roomHealth struct {
	Bytes    int64   `json:"ledger_bytes"`
	Limit    int64   `json:"ledger_limit,omitempty"` // none without
	DiskFree *int64  `json:"disk_free,omitempty"`    // not there when the disk is another machine's
	Used     float64 `json:"ledger_used"`            // percent of what is nearest to its end
}

// fill returns the place that is fullest.
func (r *room) fill(ctx context.Context) (fullest intake.Fill, err error) {
	for shard := range r.ledger.Core.Shards() {
		fill, err := r.used.Fill(ctx, shard)
		if err != nil {
			return intake.Fill{}, err
		}
		if fill.Share() > fullest.Share() || shard == 0 {
			fullest = fill
		}
	}
	return fullest, nil
}

// health says in a few words how the ledger is, and whether it takes messages.
func (r *room) health(ctx context.Context) (said string, numbers roomHealth, takes bool) {
	fill, err := r.fill(ctx)
	if err == nil {
		numbers = r.numbers(fill)
	}
	held := r.holds()
	switch {
	case errors.Is(held, bus.ErrLost):
		return "lost: " + held.Error(), numbers, false
	case errors.Is(held, bus.ErrFull):
		return "full: " + held.Error(), numbers, false
	case held != nil:
		return "failed: " + held.Error(), numbers, false
	case err != nil:
		return ledgerSilent, numbers, false
	case fill.Share() >= intake.IntakeShare:
		return "full: nothing new is taken, what is under way goes on: " + fill.String(), numbers, false
	case fill.Share() >= nearlyFull:
		return "nearly full: " + fill.String(), numbers, true
	}
	return ledgerWell, numbers, true
}

func (r *room) numbers(fill intake.Fill) roomHealth {
	numbers := roomHealth{Bytes: fill.Disk.Used, Limit: r.ledger.maxBytes, Used: float64(int(fill.Share()*10)) / 10}
	if fill.Disk.Known && r.free != nil {
		numbers.DiskFree = &fill.Disk.Free
		if left, err := r.free(); err == nil { // it is of this moment
			numbers.DiskFree = &left
		}
	}
	return numbers
}

// sayLevel writes to the log when the ledger becomes nearly full, full, or neither.
func (r *room) sayLevel(ctx context.Context) {
	fill, err := r.fill(ctx)
	if err != nil {
		return
	}
	level := ""
	switch share := fill.Share(); {
	case share >= intake.IntakeShare:
		level = "the ledger is full: nothing new is taken, and what is under way goes on"
	case share >= nearlyFull:
		level = "the ledger is nearly full"
	}
	r.mu.Lock()
	before := r.said
	r.said = level
	r.mu.Unlock()
	switch {
	case level == before:
	case level == "":
		r.log.Info().Msg("the ledger has room again")
	default:
		r.log.Warn().Str("why", fill.String()).Msg(level)
	}
}

// roomMetrics tells how much of the ledger's room is used, when it is asked.
type roomMetrics struct{ room *room }

// roomMetricsWait bounds the question to the ledger.
const roomMetricsWait = 2 * time.Second

type roomDescriptions struct{ bytes, limit, free, used, takes *prometheus.Desc }

func (roomMetrics) descriptions() roomDescriptions {
	return roomDescriptions{
		bytes: prometheus.NewDesc("podium_ledger_bytes", "Bytes that the ledger holds.", nil, nil),
		limit: prometheus.NewDesc("podium_ledger_limit_bytes", "Bytes that the ledger may hold: ledger.max_bytes.", nil, nil),
		free:  prometheus.NewDesc("podium_ledger_disk_free_bytes", "Bytes that the ledger's disk has left.", nil, nil),
		used: prometheus.NewDesc("podium_ledger_used_ratio", "What is used of the limit of the fullest shard, of that of the artifacts, or of the disk, whichever is most; "+
			"new messages are refused from 0.9 on.", nil, nil),
		takes: prometheus.NewDesc("podium_ledger_healthy", "1 while the ledger takes new messages.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (m roomMetrics) Describe(out chan<- *prometheus.Desc) {
	told := m.descriptions()
	for _, one := range [...]*prometheus.Desc{told.bytes, told.limit, told.free, told.used, told.takes} {
		out <- one
	}
}

// Collect implements prometheus.Collector.
func (m roomMetrics) Collect(out chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), roomMetricsWait)
	defer stop()
	told := m.descriptions()
	gauge := func(of *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value)
	}
	said, numbers, takes := m.room.health(ctx)
	gauge(told.takes, truth(takes))
	if said == ledgerSilent {
		return
	}
	gauge(told.bytes, float64(numbers.Bytes))
	gauge(told.used, numbers.Used/100)
	if numbers.Limit > 0 {
		gauge(told.limit, float64(numbers.Limit))
	}
	if numbers.DiskFree != nil {
		gauge(told.free, float64(*numbers.DiskFree))
	}
}
