package service

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/backoff"
	"podium/bus/embedded/recovery"
	"podium/bus/gate"
	"podium/cmd/podium/activity"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/ledgerwatch"
	"podium/ingest/imap"
	"podium/supervisor"
)

// mailboxHealth is a mailbox on the health page.
type mailboxHealth struct {
	Account     string    `json:"account"`
	Mailbox     string    `json:"mailbox"`
	Healthy     bool      `json:"healthy"`
	Connected   bool      `json:"connected"` // it proves nothing
	LastSuccess time.Time `json:"last_success,omitzero"`
	Silent      bool      `json:"silent"`
	Lag         int       `json:"lag"`
	Gaps        int       `json:"gaps"`
	Failed      int       `json:"failed"`
	// LedgerRebuilt is when the mailbox ledger was lost, or a part of it, and made again.
	LedgerRebuilt time.Time  `json:"ledger_rebuilt,omitzero"`
	Trust         imap.Trust `json:"trust,omitempty"`
	Problem       string     `json:"problem,omitempty"`
	// CanarySeconds is how long the newest canary was under way; CanaryOverdue
	// says that one has not come in.
	CanarySeconds float64 `json:"canary_seconds,omitempty"`
	CanaryOverdue bool    `json:"canary_overdue,omitempty"`
}

// health answers 200 when the ledger answers, no shard stalls, every agent of this process is served
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
		Stalled   []shardStall     `json:"stalled,omitempty"`
		Floods    []gate.Flooding  `json:"floods,omitempty"` // of external agents, within the last hour
	}{Stalled: s.stalls.list(), Floods: s.gate.ListFloods(), Losses: s.Ledger.Lost(), Durability: s.Durability(), Agents: s.agentHealth(), Mailboxes: []mailboxHealth{}, Answers: s.Activity.Answers()}
	ctx, stop := context.WithTimeout(r.Context(), 2*time.Second)
	defer stop()
	report.Ledger, report.Health, report.OK = s.watcher.Health(ctx)
	if open := installation.SortLosses(report.Losses, nil).Open; len(open) > 0 && report.Ledger == ledgerwatch.Well {
		report.Ledger = open[0].String() // it works on without that
	}
	report.OK = report.OK && len(report.Stalled) == 0
	for i := range report.Agents {
		report.OK = report.OK && report.Agents[i].Healthy
	}
	for _, adapter := range s.adapters {
		status := adapter.Status()
		mailbox := healthOf(&status)
		report.OK = report.OK && mailbox.Healthy
		report.Mailboxes = append(report.Mailboxes, mailbox)
	}
	answer(w, report.OK, report, s.log)
}

// answer writes a report on the service: with 503 when it is not well.
func answer(w http.ResponseWriter, well bool, report any, log zerolog.Logger) {
	w.Header().Set("Content-Type", "application/json")
	if !well {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err := json.NewEncoder(w).Encode(report); err != nil { // whoever asked may be gone
		log.Debug().Err(err).Msg("a report on the service was not delivered")
	}
}

func healthOf(status *imap.Status) mailboxHealth {
	return mailboxHealth{
		Account: status.Account, Mailbox: status.Mailbox,
		// A mailbox that was never read yet is not well, however young the adapter is.
		Healthy:   status.Healthy() && !status.LastSuccess.IsZero(),
		Connected: status.Connected, Silent: status.Silent, Lag: status.Lag, Gaps: status.Gaps, Failed: status.Failed,
		LastSuccess: status.LastSuccess, LedgerRebuilt: status.Rebuilt, Trust: status.Trust, Problem: status.Problem,
		CanarySeconds: status.Canary.RoundTrip.Seconds(), CanaryOverdue: status.Canary.Overdue,
	}
}

// lookForStallsEvery is how often the owners of the shards are looked at.
const lookForStallsEvery = time.Second

// A shardStall is a shard on the health page that decides nothing although inputs wait.
type shardStall struct {
	Shard int       `json:"shard"`
	Since time.Time `json:"since"`
}

// stalls are the shards that stall, of those whose owners are known.
type stalls struct {
	mu     sync.Mutex
	owners map[int]*supervisor.Owner
	found  map[int]time.Time // since when
}

// own notes the owner of a shard, or that it has none at the moment.
func (s *stalls) own(shard int, owner *supervisor.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners, s.found = map[int]*supervisor.Owner{}, map[int]time.Time{}
	}
	delete(s.found, shard)
	if delete(s.owners, shard); owner != nil {
		s.owners[shard] = owner
	}
}

// look looks at every owner, and calls tell for a shard that stalls now and did not at the last look.
func (s *stalls) look(now time.Time, tell func(shard int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for shard, owner := range s.owners {
		since, stalled := owner.CheckStall(now)
		if !stalled {
			delete(s.found, shard)
			continue
		}
		if _, known := s.found[shard]; !known {
			s.found[shard] = since
			tell(shard)
		}
	}
}

// list lists the shards that stall, by number.
func (s *stalls) list() []shardStall {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := make([]shardStall, 0, len(s.found))
	for shard, since := range s.found {
		listed = append(listed, shardStall{shard, since})
	}
	slices.SortFunc(listed, func(a, b shardStall) int { return a.Shard - b.Shard })
	return listed
}

// watchStalls looks for shards that stall until ctx ends, and tells the log of each.
func (s *Service) watchStalls(ctx context.Context) error {
	backoff.Every(ctx, lookForStallsEvery, func() {
		s.stalls.look(time.Now(), func(shard int) {
			s.log.Error().Int("shard", shard).Dur("after", supervisor.StalledAfter).
				Msg("a shard decides nothing although inputs wait; /healthz answers 503 until it does")
		})
	})
	return nil
}
