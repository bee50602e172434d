package verify_test

import (
	"cmp"
	"context"
	"flag"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/restore"
	"podium/supervisor/sim"
	"podium/supervisor/verify"
)

var (
	judged = flag.Int("sim.judged", 1_000, "how many simulated runs are judged by other profiles")
	first  = flag.Uint64("sim.seed", 1, "the first seed of the worlds that they are of")
)

// edited returns profiles of which each is changed.
func edited(sources map[string]schemas.Profile, change func(*schemas.Profile)) map[string]schemas.Profile {
	others := maps.Clone(sources)
	for name, profile := range others {
		profile.Agents, profile.Routers = slices.Clone(profile.Agents), slices.Clone(profile.Routers)
		for i := range profile.Routers {
			profile.Routers[i].Groups = slices.Clone(profile.Routers[i].Groups)
		}
		change(&profile)
		others[name] = profile
	}
	return others
}

// named are the runs of a world, and the sessions where it is about no run, that other profiles would decide otherwise.
func named(t *testing.T, world *sim.World, others map[string]schemas.Profile) (runs map[string]bool, begun int) {
	t.Helper()
	runs = map[string]bool{}
	for shard := range world.Ledger().Shards() {
		result, err := verify.Instead(context.Background(), world.Ledger(), world.Recorded(), shard, "", &verify.Others{Profiles: others})
		if err != nil || len(result.Faults) > 0 || len(result.WhatIf.Undecided) > 0 {
			t.Errorf("seed %d: %v, faults %v, undecided %v", world.Seed, err, result.Faults, result.WhatIf.Undecided)
			return runs, begun
		}
		begun += result.WhatIf.Runs
		differ := 0
		for _, found := range result.WhatIf.Differences {
			id := cmp.Or(found.Run, found.Session)
			if runs[id] {
				t.Errorf("seed %d: %s is named twice", world.Seed, id)
			}
			runs[id] = true
			if found.Run != "" {
				differ++
			}
		}
		if result.WhatIf.Differ != differ {
			t.Errorf("seed %d: %d runs differ, and %d are named", world.Seed, result.WhatIf.Differ, differ)
		}
	}
	return runs, begun
}

var saysBeta = regexp.MustCompile(`\bbeta\b`)

// routedByWord are the runs of a world in which a task was routed whose words say "beta", and whose profile looks for words; and
// the runs in which descriptions of agents count: agents are weighed, or people are asked about what an agent does. It reads what
// messages and plans say, and decides nothing.
func routedByWord(t *testing.T, world *sim.World, sources map[string]schemas.Profile) (byWord, weighed map[string]bool) {
	t.Helper()
	byWord, weighed = map[string]bool{}, map[string]bool{}
	has := func(profile string, kind schemas.RouterKind) bool {
		return slices.ContainsFunc(sources[profile].Routers, func(r schemas.Router) bool { return r.Kind == kind })
	}
	profiles, words := map[string]string{}, map[string]map[string]string{}
	core := world.Ledger()
	for shard := range core.Shards() {
		for message, err := range core.Scan(context.Background(), bus.ShardStream(shard), 1) {
			if err != nil {
				t.Fatal(err)
			}
			if subject, err := bus.ParseSubject(message.Subject); err != nil || subject.Kind != bus.KindSession {
				continue
			}
			record, err := restore.ReadRecord(context.Background(), core.Artifacts(), message)
			if err != nil {
				t.Fatal(err)
			}
			for fact := range record.AllFacts() {
				run := schemas.RunID(record.Session, schemas.RunOf(fact))
				switch f := fact.(type) {
				case *schemas.RunStarted:
					profiles[run] = f.Profile
				case *schemas.PlanCreated:
					words[run] = map[string]string{}
					for i := range f.Tasks {
						words[run][f.Tasks[i].Task] = said(t, core, shard, f.Tasks[i].Description)
					}
				case *schemas.PlanChanged:
					for i := range f.Tasks {
						words[run][f.Tasks[i].Task] = said(t, core, shard, f.Tasks[i].Description)
					}
				case *schemas.TaskRouted:
					if has(profiles[run], schemas.RouterKeywords) && saysBeta.MatchString(words[run][f.Task]) {
						byWord[run] = true
					}
					if has(profiles[run], schemas.RouterScore) {
						weighed[run] = true
					}
				case *schemas.InquiryOpened:
					weighed[run] = true
				default:
				}
			}
		}
	}
	return byWord, weighed
}

// said is what a task is about, read from the message that says it where it stands there.
func said(t *testing.T, core bus.Core, shard int, content schemas.Content) string {
	t.Helper()
	if content.Sequence == 0 {
		return content.Text
	}
	input, err := restore.ReadInput(context.Background(), core, shard, content.Sequence)
	if err != nil {
		t.Fatal(err)
	}
	if content.Size == 0 {
		return input.Content.Text
	}
	return input.Content.Text[content.Offset : content.Offset+content.Size]
}

// TestOtherProfilesNameTheRunsTheyChange: over simulated ledgers with every fault, the same profiles name no run; a keyword that leads to
// another agent names exactly the runs with a task of that word that was routed by words; another description names none but runs in
// which agents are weighed, or people are asked.
func TestOtherProfilesNameTheRunsTheyChange_X07(t *testing.T) {
	t.Parallel()
	library := sim.NewLibrary()
	var mu sync.Mutex
	seed, runs, changed, untouched, weighing := *first, 0, 0, 0, 0
	next := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		seed++
		return seed - 1, runs < *judged && !t.Failed()
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, more := next(); more; seed, more = next() {
				world := sim.New(seed, sim.OfSeed, library)
				sources := world.Sources()
				if sources == nil {
					continue // names stand for several profiles
				}
				world.Run()
				same, begun := named(t, world, edited(sources, func(*schemas.Profile) {}))
				if len(same) > 0 {
					t.Errorf("seed %d: the same profiles name %v", seed, same)
				}
				want, weighed := routedByWord(t, world, sources)
				got, _ := named(t, world, edited(sources, func(p *schemas.Profile) {
					for i := range p.Routers {
						if p.Routers[i].Kind == schemas.RouterKeywords {
							p.Routers[i].Groups[1].Agent = "gamma"
						}
					}
				}))
				if !maps.Equal(got, want) {
					t.Errorf("seed %d: another route names %v, want %v", seed, got, want)
				}
				described, _ := named(t, world, edited(sources, func(p *schemas.Profile) { p.Agents[0].Description = "reckon" }))
				for run := range described {
					if !weighed[run] {
						t.Errorf("seed %d: another description names %s, where no agent is weighed, and no person asked", seed, run)
					}
				}
				mu.Lock()
				runs, changed, untouched, weighing = runs+begun, changed+len(got), untouched+begun-len(got), weighing+len(described)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if changed == 0 || untouched == 0 || weighing == 0 {
		t.Errorf("of %d runs %d change by the route, %d do not, %d by the description", runs, changed, untouched, weighing)
	}
	t.Logf("%d runs up to seed %d: the route names %d, the description %d", runs, seed, changed, weighing)
}

// TestOtherProfilesOfAnyKindAreDecided: what is on record stands in no relation to profiles that lack its agents, plan otherwise or
// work in another shape. They are decided all the same, and what they name is on record.
func TestOtherProfilesOfAnyKindAreDecided(t *testing.T) {
	t.Parallel()
	library := sim.NewLibrary()
	edits := map[string]func(*schemas.Profile){
		"without an agent": func(p *schemas.Profile) {
			p.Agents, p.Execution.AllowedChains = slices.DeleteFunc(p.Agents, func(use schemas.AgentUse) bool { return use.Name == "beta" }), nil
			for i := range p.Agents {
				p.Agents[i].Fallback = ""
			}
			if p.Planner != nil && p.Planner.Kind == schemas.PlannerTemplate { // its tasks name the agent
				p.Planner = nil
			}
			for i := range p.Routers {
				p.Routers[i].Groups = slices.DeleteFunc(p.Routers[i].Groups, func(g schemas.KeywordGroup) bool { return g.Agent == "beta" })
			}
		},
		"with another agent alone": func(p *schemas.Profile) {
			p.Agents, p.Execution.AllowedChains = []schemas.AgentUse{{Name: "delta"}}, nil
			p.Planner, p.Complexity = nil, nil
			p.Routers = []schemas.Router{{Kind: schemas.RouterDefault, Agent: "delta"}}
		},
		"without a planner":  func(p *schemas.Profile) { p.Planner, p.Complexity = nil, nil },
		"in one step":        func(p *schemas.Profile) { p.Execution.Mode, p.Replan = schemas.ExecutionSingle, nil },
		"as a graph":         func(p *schemas.Profile) { p.Execution.Mode, p.Replan = schemas.ExecutionDAG, nil },
		"one attempt":        func(p *schemas.Profile) { p.Retry.Attempts, p.Delivery.Attempts = 1, 1 },
		"nobody is asked":    func(p *schemas.Profile) { p.Waiting, p.People = nil, nil },
		"in short deadlines": func(p *schemas.Profile) { p.Deadlines.Queue, p.Deadlines.Work, p.Deadlines.Run = 1, 1, 1 },
		"newer takes over":   func(p *schemas.Profile) { p.Conversation.WhileRunning = schemas.WhileRunningSupersede },
		"in another tongue":  func(p *schemas.Profile) { p.Language = "de" },
	}
	found := map[string]int{}
	for seed := *first; seed < *first+64; seed++ {
		world := sim.New(seed, sim.People, library)
		sources := world.Sources()
		if sources == nil {
			continue
		}
		world.Run()
		for name, edit := range edits {
			runs, _ := named(t, world, edited(sources, edit))
			found[name] += len(runs)
		}
	}
	for name := range edits {
		if found[name] == 0 {
			t.Errorf("%s: nothing differs", name)
		}
	}
}
