package budget_test

import (
	"math/rand/v2"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/budget"
)

func policy() *schemas.Budget {
	return &schemas.Budget{
		Run: schemas.Usage{Tokens: 1000}, Agents: map[string]schemas.Usage{"coder": {Tokens: 400, CostMicros: 5000}},
		Reserve: schemas.Usage{Tokens: 100, Milliseconds: 2000, CostMicros: 7}, Price: 2_000_000, Prices: map[string]int64{"coder": 10_000_001, "local": 0},
		Free: []string{"calculator"},
	}
}

// TestNeed_P19: a request reserves what its plan estimates, else what the budget says, and money by the price of its agent.
func TestNeed_P19(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent   string
		planned *schemas.PlannedTask
		want    schemas.Usage
	}{
		"a question":          {"writer", nil, schemas.Usage{Tokens: 100, Milliseconds: 2000, CostMicros: 200}},
		"no estimate":         {"writer", &schemas.PlannedTask{}, schemas.Usage{Tokens: 100, Milliseconds: 2000, CostMicros: 200}},
		"an estimate":         {"writer", &schemas.PlannedTask{Tokens: 30, Seconds: 5}, schemas.Usage{Tokens: 30, Milliseconds: 5000, CostMicros: 60}},
		"a price of its own":  {"coder", &schemas.PlannedTask{Tokens: 3}, schemas.Usage{Tokens: 3, Milliseconds: 2000, CostMicros: 31}},
		"no price":            {"local", &schemas.PlannedTask{Tokens: 3}, schemas.Usage{Tokens: 3, Milliseconds: 2000, CostMicros: 7}},
		"no tokens":           {"calculator", &schemas.PlannedTask{Tokens: 3}, schemas.Usage{Milliseconds: 2000}},
		"more than there are": {"writer", &schemas.PlannedTask{Tokens: 1 << 62, Seconds: 1 << 62}, schemas.Usage{Tokens: schemas.MaxUsage, Milliseconds: schemas.MaxUsage, CostMicros: schemas.MaxUsage}},
	} {
		if got := budget.Need(policy(), c.agent, c.planned); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestUsed_P19: what an agent says counts, and what it does not say counts as reserved; working time is measured then.
func TestUsed_P19(t *testing.T) {
	t.Parallel()
	reserved := schemas.Usage{Tokens: 100, Milliseconds: 2000, CostMicros: 200}
	for name, c := range map[string]struct {
		agent string
		said  budget.Said
		want  schemas.Usage
	}{
		"all of it":            {"writer", budget.Said{Tokens: new(int64(5)), Milliseconds: 7, CostMicros: 9, Measured: 11}, schemas.Usage{Tokens: 5, Milliseconds: 7, CostMicros: 9}},
		"nothing":              {"writer", budget.Said{}, reserved},
		"nothing, measured":    {"writer", budget.Said{Measured: 11}, schemas.Usage{Tokens: 100, Milliseconds: 11, CostMicros: 200}},
		"no tokens were used":  {"writer", budget.Said{Tokens: new(int64(0))}, schemas.Usage{Milliseconds: 2000}},
		"tokens, with a price": {"coder", budget.Said{Tokens: new(int64(3))}, schemas.Usage{Tokens: 3, Milliseconds: 2000, CostMicros: 31}},
		"tokens without one":   {"local", budget.Said{Tokens: new(int64(3))}, schemas.Usage{Tokens: 3, Milliseconds: 2000, CostMicros: 200}},
		"less than nothing":    {"writer", budget.Said{Tokens: new(int64(-3)), Milliseconds: -1, CostMicros: -1, Measured: -1}, schemas.Usage{Milliseconds: 2000}},
		"more than there are":  {"writer", budget.Said{Tokens: new(int64(1 << 62)), CostMicros: 1 << 62}, schemas.Usage{Tokens: schemas.MaxUsage, Milliseconds: 2000, CostMicros: schemas.MaxUsage}},
	} {
		if got := budget.Used(policy(), c.agent, reserved, c.said); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestLacking_P19: a request fits as long as all limits hold with it, that of the run and that of its agent, each with what it was raised by.
func TestLacking_P19(t *testing.T) {
	t.Parallel()
	account := &workflow.Account{
		Agents: []workflow.AgentAccount{{Agent: "coder", Usage: schemas.Usage{Tokens: 300, CostMicros: 3000}}, {Agent: "writer", Usage: schemas.Usage{Tokens: 200}}},
		Open:   []workflow.Reservation{{Request: "r", Agent: "coder", Usage: schemas.Usage{Tokens: 50}}, {Request: "s", Agent: "writer", Usage: schemas.Usage{Tokens: 100}}},
		Raises: []workflow.AgentAccount{{Usage: schemas.Usage{Tokens: 40, CostMicros: 1}}},
	}
	for name, c := range map[string]struct {
		agent string
		need  schemas.Usage
		whose string
		offer schemas.Usage
		fits  bool
	}{
		"all that is left":         {agent: "writer", need: schemas.Usage{Tokens: 390, Milliseconds: 1 << 40, CostMicros: 1 << 40}, fits: true},
		"one more":                 {agent: "writer", need: schemas.Usage{Tokens: 391}, offer: schemas.Usage{Tokens: 1}},
		"of an agent":              {agent: "coder", need: schemas.Usage{Tokens: 51, CostMicros: 2500}, whose: "coder", offer: schemas.Usage{Tokens: 1, CostMicros: 500}},
		"nothing, of what is over": {agent: "coder", need: schemas.Usage{Milliseconds: 5}, fits: true},
	} {
		got := budget.Lacking(policy(), account, c.agent, c.need)
		switch {
		case c.fits != (got == nil):
			t.Errorf("%s: %+v", name, got)
		case got != nil && (got.Agent != c.whose || got.Offer != c.offer):
			t.Errorf("%s: %+v, want %+v of %q", name, got, c.offer, c.whose)
		}
	}
}

// TestOffer: what is offered is enough for all that is still planned, and for what is asked about at least.
func TestOffer(t *testing.T) {
	t.Parallel()
	task := func(agent string, state workflow.TaskState, tokens int) *workflow.Task {
		return &workflow.Task{ID: agent, Agent: agent, State: state, Plan: &schemas.PlannedTask{Tokens: tokens}}
	}
	run := &workflow.Run{Tasks: []*workflow.Task{
		task("writer", workflow.TaskReady, 300), task("coder", workflow.TaskPending, 50), task("writer", workflow.TaskCompleted, 1000), task("writer", workflow.TaskRunning, 1000),
	}}
	short := schemas.Shortage{Limit: schemas.Usage{Tokens: 1000}, Taken: schemas.Usage{Tokens: 900}, Offer: schemas.Usage{Tokens: 200}}
	if got := budget.Offer(policy(), run, &short); got != (schemas.Usage{Tokens: 250}) {
		t.Errorf("%+v", got)
	}
	short.Agent = "writer"
	if got := budget.Offer(policy(), run, &short); got != (schemas.Usage{Tokens: 200}) {
		t.Errorf("of one agent: %+v", got)
	}
}

// TestRead: one word decides, alone or with a number of what is short behind it; everything else decides nothing.
// TestAmountsAddUp: people read what stands on record, and what is offered is rounded up before it is on record.
func TestAmountsAddUp(t *testing.T) {
	t.Parallel()
	english := schemas.Language{Texts: schemas.Texts{Tokens: "{amount} tokens", Cost: "a cost of {amount}"}}
	german := schemas.Language{Decimal: ",", Texts: english.Texts}
	for _, c := range []struct {
		amount schemas.Usage
		exact  string
		offer  schemas.Usage
	}{
		{schemas.Usage{Milliseconds: 7001}, "7.001 s", schemas.Usage{Milliseconds: 8000}},
		{schemas.Usage{Milliseconds: 1500}, "1.5 s", schemas.Usage{Milliseconds: 2000}},
		{schemas.Usage{Milliseconds: 8000}, "8 s", schemas.Usage{Milliseconds: 8000}},
		{schemas.Usage{CostMicros: 1}, "a cost of 0.000001", schemas.Usage{CostMicros: 10_000}},
		{schemas.Usage{CostMicros: 2_500_000}, "a cost of 2.50", schemas.Usage{CostMicros: 2_500_000}},
		{schemas.Usage{Tokens: 7, CostMicros: 12_345_678}, "7 tokens, a cost of 12.345678", schemas.Usage{Tokens: 7, CostMicros: 12_350_000}},
		{schemas.Usage{Milliseconds: schemas.MaxUsage}, budget.Tell(schemas.Usage{Milliseconds: schemas.MaxUsage}, schemas.Usage{}, &english), schemas.Usage{Milliseconds: schemas.MaxUsage}},
	} {
		if exact := budget.Tell(c.amount, schemas.Usage{}, &english); exact != c.exact {
			t.Errorf("%+v is told as %q", c.amount, exact)
		}
		if offer := budget.RoundUp(c.amount); offer != c.offer {
			t.Errorf("%+v is offered as %+v", c.amount, offer)
		}
	}
	if told := budget.Tell(schemas.Usage{Milliseconds: 7001}, schemas.Usage{}, &german); told != "7,001 s" {
		t.Errorf("in German it is %q", told)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	languages := []schemas.Language{{Raise: []string{"raise", "grant more"}, Reject: []string{"reject", "no"}}, {Raise: []string{"erhöhen"}, Reject: []string{"nein"}}}
	tokens, money, both := schemas.Usage{Tokens: 1}, schemas.Usage{CostMicros: 1}, schemas.Usage{Tokens: 1, CostMicros: 1}
	for words, c := range map[string]struct {
		short  schemas.Usage
		choice schemas.InquiryChoice
		amount schemas.Usage
	}{
		"raise":                            {short: both, choice: schemas.ChoiceRaise},
		" Raise! \n\nRegards":              {short: tokens, choice: schemas.ChoiceRaise},
		"„erhöhen“":                        {short: tokens, choice: schemas.ChoiceRaise},
		"No.":                              {short: tokens, choice: schemas.ChoiceReject},
		"raise 20000":                      {tokens, schemas.ChoiceRaise, schemas.Usage{Tokens: 20000}},
		"grant more 20000.":                {tokens, schemas.ChoiceRaise, schemas.Usage{Tokens: 20000}},
		"raise 2,50":                       {money, schemas.ChoiceRaise, schemas.Usage{CostMicros: 2_500_000}},
		"Raise 0.000001":                   {money, schemas.ChoiceRaise, schemas.Usage{CostMicros: 1}},
		"raise 20":                         {short: both},
		"raise 20.000":                     {short: tokens}, // thousands, or decimals
		"raise -5":                         {short: tokens},
		"raise 0":                          {short: tokens},
		"raise 5 6":                        {short: tokens},
		"raise 5 to 6":                     {short: tokens},
		"raise it":                         {short: tokens},
		"raise 99999999999999999999":       {short: tokens},
		"reject 5":                         {short: tokens},
		"5":                                {short: tokens},
		"":                                 {short: tokens},
		"I would not raise it\nraise 2000": {short: tokens},
	} {
		choice, amount, decides := budget.Read(words, c.short, languages)
		if choice != c.choice || amount != c.amount || decides != (c.choice != "") {
			t.Errorf("%q: %q, %+v, %v; want %q, %+v", words, choice, amount, decides, c.choice, c.amount)
		}
	}
}

// TestFaults: a budget that cannot hold is none.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*schemas.Budget){
		"negative":          func(b *schemas.Budget) { b.Run.Tokens = -1 },
		"too much":          func(b *schemas.Budget) { b.Agents["coder"] = schemas.Usage{Tokens: schemas.MaxUsage + 1} },
		"a negative price":  func(b *schemas.Budget) { b.Prices["coder"] = -1 },
		"nothing reserved":  func(b *schemas.Budget) { b.Reserve.Tokens = 0 },
		"no time reserved":  func(b *schemas.Budget) { b.Run.Milliseconds, b.Reserve.Milliseconds = 5, 0 },
		"no money reserved": func(b *schemas.Budget) { b.Price, b.Reserve.CostMicros = 0, 0 },
		"nobody to ask":     func(b *schemas.Budget) { b.Exhausted, b.Expire = schemas.BudgetAsks, 1 },
		"asked without end": func(b *schemas.Budget) { b.Exhausted, b.People = schemas.BudgetAsks, []string{"anna"} },
		"requester and more": func(b *schemas.Budget) {
			b.Exhausted, b.Expire, b.People = schemas.BudgetAsks, 1, []string{"anna", "requester"}
		},
		"another way": func(b *schemas.Budget) { b.Exhausted = "wait" },
	} {
		spoilt := policy()
		spoil(spoilt)
		if faults := budget.Faults(spoilt); len(faults) != 1 {
			t.Errorf("%s: %v", name, faults)
		}
	}
	if faults := append(budget.Faults(policy()), budget.Faults(nil)...); len(faults) > 0 {
		t.Error(faults)
	}
}

// play has requests of some agents begin when they fit and end in any order, some never, and holds the account to its limits.
func play(t *testing.T, next func(n int) int) {
	t.Helper()
	policy := &schemas.Budget{Run: schemas.Usage{Tokens: 1000}, Agents: map[string]schemas.Usage{"a": {Tokens: 300}}, Reserve: schemas.Usage{Tokens: 50}}
	run := &workflow.Run{Number: 1}
	type open struct {
		request, agent string
		reserved       schemas.Usage
	}
	var under []open
	var beyond, used int64
	settled := map[string]bool{}
	for n := range 60 {
		agent := []string{"a", "b"}[next(2)]
		need := budget.Need(policy, agent, &schemas.PlannedTask{Tokens: next(3) * next(200)})
		if next(3) > 0 && budget.Lacking(policy, run.Account, agent, need) == nil {
			request := string(rune('A' + n))
			run.Apply(&schemas.TaskDispatched{Run: 1, Task: request, Kind: schemas.TaskKindAssess, Agent: agent, Attempt: 1, Request: request, Reserved: &need}, run.Planned)
			under = append(under, open{request, agent, need})
		}
		if len(under) > 0 && next(2) == 0 {
			at := next(len(under))
			ends := under[at]
			spent := schemas.Spent{Request: ends.request, Usage: budget.Used(policy, ends.agent, ends.reserved, budget.Said{Tokens: new(int64(next(400)))})}
			late := schemas.ResponseLate{Run: 1, Task: ends.request, Attempt: 1, Usage: &spent}
			run.Apply(&late, run.Planned)
			if next(3) == 0 {
				run.Apply(&late, run.Planned) // it comes again
			}
			beyond += max(spent.Tokens-ends.reserved.Tokens, 0)
			used += spent.Tokens
			settled[ends.request] = true
			under = append(under[:at], under[at+1:]...)
		}
		reserved := int64(0)
		for i := range under {
			reserved += under[i].reserved.Tokens
		}
		if taken := run.Account.Taken("").Tokens; taken != used+reserved || taken > policy.Run.Tokens+beyond {
			t.Fatalf("%d are taken: %d used, %d reserved, %d beyond what was reserved", taken, used, reserved, beyond)
		}
		if of := run.Account.Taken("a").Tokens; of > policy.Agents["a"].Tokens+beyond {
			t.Fatalf("%d are taken of an agent, %d beyond", of, beyond)
		}
	}
	for _, left := range under {
		run.Apply(&schemas.TaskCompleted{Run: 1, Task: left.request, Attempt: 1, Usage: &schemas.Spent{Request: left.request, Usage: left.reserved}}, run.Planned)
		used += left.reserved.Tokens
	}
	if run.Account != nil && (len(run.Account.Open) > 0 || run.Account.Used("").Tokens != used) {
		t.Fatalf("%d are reserved when all is over, and %d used of %d", len(run.Account.Open), run.Account.Used("").Tokens, used)
	}
}

// TestBudgetHolds_P19: whatever begins and ends, a limit is exceeded by no more than attempts use beyond what was reserved for them, each is settled once, and nothing is
// reserved when all is over.
func TestBudgetHolds_P19(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		play(t, rand.New(rand.NewPCG(seed, 7)).IntN)
	}
}

// FuzzBudgetHolds is TestBudgetHolds_P19 by bytes.
func FuzzBudgetHolds(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, choices []byte) {
		play(t, func(n int) int {
			if len(choices) == 0 {
				return n / 2
			}
			chosen := int(choices[0])
			choices = choices[1:]
			return chosen % n
		})
	})
}
