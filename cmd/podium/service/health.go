package service

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded/recovery"
	"podium/cmd/podium/activity"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/ledgerwatch"
	"podium/ingest/imap"
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
	}{Stalled: s.stalls.list(), Losses: s.Ledger.Lost(), Durability: s.Durability(), Agents: s.agentHealth(), Mailboxes: []mailboxHealth{}, Answers: s.Activity.Answers()}
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
