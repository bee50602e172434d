package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
)

// serve answers the services of all agents until the test ends.
func serve(t *testing.T, ledger *memory.Ledger, standing *registry.Standing) {
	t.Helper()
	stop, err := registry.ServeAgents(t.Context(), ledger, registry.AgentServices{Clock: time.Now, Standing: standing})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

func say(t *testing.T, worker bus.Worker, service, body string) {
	t.Helper()
	if _, err := worker.Ask(t.Context(), service, []byte(body)); err != nil {
		t.Fatalf("%s %s: %v", service, body, err)
	}
}

func list(t *testing.T, ledger *memory.Ledger) map[string]registry.Entry {
	t.Helper()
	entries, err := registry.List(t.Context(), ledger, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]registry.Entry{}
	for i := range entries {
		found[entries[i].Name] = entries[i]
	}
	return found
}

// TestNoAgentWritesTheCoresKeys: an agent whose name is how the core's own keys begin has its entry below its own, and
// no id leads out of it.
func TestNoAgentWritesTheCoresKeys(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	serve(t, ledger, nil)
	for _, name := range []string{"breaker", "cursor", "key", "policy", "instance", "revocation"} {
		worker := ledger.Worker(name)
		for _, id := range []string{"grants", "echo", "", "A-1_b"} {
			say(t, worker, bus.ServiceAnnounce, fmt.Sprintf(`{"name":%q,"id":%q}`, name, id))
		}
		for _, id := range []string{"a.b", "*", ">", "ä", " ", strings.Repeat("a", 65)} {
			if _, err := worker.Ask(t.Context(), bus.ServiceAnnounce, fmt.Appendf(nil, `{"name":%q,"id":%q}`, name, id)); err == nil {
				t.Errorf("%s announces itself as %q", name, id)
			}
			if _, err := worker.Ask(t.Context(), bus.ServiceAlive, fmt.Appendf(nil, `{"id":%q,"problem":"x"}`, id)); err == nil {
				t.Errorf("%s is alive as %q", name, id)
			}
		}
	}
	keys, err := ledger.KeyValue(bus.AgentBucket).Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !strings.HasPrefix(key, "instance.") && key != "key.grants" {
			t.Errorf("an agent has written %s", key)
		}
	}
}

// TestAnnouncementsAreBounded: what is larger than an entry may be is refused, and said why.
func TestAnnouncementsAreBounded(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	serve(t, ledger, nil)
	worker := ledger.Worker("alpha")
	many := strings.TrimSuffix(strings.Repeat(`{"words":[],"score":1},`, 257), ",")
	for body, says := range map[string]string{
		`{"name":"alpha","description":"` + strings.Repeat("a", 64<<10) + `"}`: "too large",
		`{"name":"alpha","version":"` + strings.Repeat("1", 257) + `"}`:        "256 bytes",
		`{"name":"alpha","capabilities":[` + many + `]}`:                       "256 capabilities",
	} {
		if _, err := worker.Ask(t.Context(), bus.ServiceAnnounce, []byte(body)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d bytes: %v", len(body), err)
		}
	}
	if found := list(t, ledger); len(found) != 0 {
		t.Errorf("registered: %+v", found)
	}
	say(t, worker, bus.ServiceAnnounce, `{"name":"alpha"}`)
	say(t, worker, bus.ServiceAlive, `{"problem":"two\nlines `+strings.Repeat("ä", 200)+`"}`)
	long := strings.TrimSuffix(strings.Repeat("0,", 20_000), ",")
	if _, err := worker.Ask(t.Context(), bus.ServiceAlive, []byte(`{"more":[`+long+`]}`)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a long sign of life: %v", err)
	}
	answer, err := worker.Ask(t.Context(), bus.ServiceArtifact, []byte(`{"op":"put","more":[`+long+`,`+long+`]}`+"\nhello"))
	if err == nil || !strings.Contains(err.Error(), "the head of a frame") {
		t.Errorf("a long head of a frame: %s, %v", answer, err)
	}
	if told := list(t, ledger)["alpha"].Instances[0].Health.Problem; len(told) > 300 || strings.Contains(told, "\n") {
		t.Errorf("a stranger's words of %d bytes: %q", len(told), told)
	}
}

// TestProcessesAreBounded: of one agent so many processes are known at a time. Who is silent for long gives way.
func TestProcessesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		serve(t, ledger, nil)
		worker := ledger.Worker("alpha")
		announce := func(id string) error {
			_, err := worker.Ask(t.Context(), bus.ServiceAnnounce, fmt.Appendf(nil, `{"name":"alpha","id":%q}`, id))
			return err
		}
		for n := range 64 {
			if err := announce(fmt.Sprintf("n%d", n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := announce("more"); !bus.Temporary(err) {
			t.Errorf("one more than there may be: %v", err)
		}
		if err := announce("n3"); err != nil {
			t.Errorf("a known one again: %v", err)
		}
		time.Sleep(registry.AliveWithin + time.Second)
		if err := announce("more"); err != nil {
			t.Errorf("others are late, and one more is not taken: %v", err)
		}
		if known := list(t, ledger)["alpha"].Instances; len(known) != 64 {
			t.Errorf("%d are known", len(known))
		}
		time.Sleep(2 * time.Hour)
		if err := announce("last"); err != nil {
			t.Fatal(err)
		}
		if known := list(t, ledger)["alpha"].Instances; len(known) != 1 {
			t.Errorf("of long ago %d are known", len(known)-1)
		}
	})
}

// TestConfigurationHoldsOverAnnouncements: what the configuration says is what counts, and each difference is named.
func TestConfigurationHoldsOverAnnouncements(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	serve(t, ledger, nil)
	policies := []registry.Policy{
		{Agent: schemas.Agent{
			Name: "alpha", Kind: "external", SideEffects: "external", Kinds: []schemas.RequestKind{"work", "assess"}, InputSchema: []byte(`{"type":"object","required":["a"]}`),
		}, Required: true, External: true},
		{Agent: schemas.Agent{Name: "beta", Kind: "external"}, External: true},
	}
	if err := registry.Configure(t.Context(), ledger, policies); err != nil {
		t.Fatal(err)
	}
	say(t, ledger.Worker("alpha"), bus.ServiceAnnounce, `{"name":"alpha","kind":"script","input_schema":{"required":["a"],"type":"object"},"kinds":["assess","plan"]}`)
	say(t, ledger.Worker("alpha"), bus.ServiceAnnounce, `{"name":"alpha","id":"other","kind":"script","kinds":["assess","work"],"side_effects":"external","input_schema":{"type":"object"}}`)
	found := list(t, ledger)
	alpha := found["alpha"]
	slices.Sort(alpha.Drift)
	if want := []string{"input_schema", "kinds", "side_effects"}; !slices.Equal(alpha.Drift, want) {
		t.Errorf("drift %v, want %v", alpha.Drift, want)
	}
	if alpha.Kind != "script" || alpha.SideEffects != "external" || len(alpha.Kinds) != 2 || !alpha.Required || !alpha.Configured || alpha.State != schemas.AgentOK {
		t.Errorf("in force is %+v", alpha)
	}
	if beta := found["beta"]; beta.State != schemas.AgentNever || len(beta.Drift) != 0 || !beta.Configured {
		t.Errorf("who never came is %+v", beta)
	}
}

// TestWhoIsOutOfTheConfigurationIsForgotten: its processes and its breaker with it, so that nobody lists it; but who comes back was revoked.
func TestWhoIsOutOfTheConfigurationIsForgotten(t *testing.T) {
	t.Parallel()
	ledger, standing := memory.New(1), registry.NewStanding()
	serve(t, ledger, standing)
	both := []registry.Policy{{Agent: schemas.Agent{Name: "alpha"}, External: true}, {Agent: schemas.Agent{Name: "beta"}, External: true}}
	configure := func(policies []registry.Policy) map[string]registry.Entry {
		t.Helper()
		if err := registry.Configure(t.Context(), ledger, policies); err != nil {
			t.Fatal(err)
		}
		return list(t, ledger)
	}
	configure(both)
	for _, name := range []string{"alpha", "beta"} {
		say(t, ledger.Worker(name), bus.ServiceAnnounce, `{"name":"`+name+`","id":"one"}`)
		if _, err := ledger.KeyValue(bus.AgentBucket).Put(t.Context(), registry.BreakerKey(name), []byte(`{"state":"open"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := registry.Revoke(t.Context(), ledger, standing, "alpha", schemas.Revocation{At: time.Now(), Reason: schemas.RevokedByOperator, Key: "U"}); err != nil {
		t.Fatal(err)
	}
	if found := configure(both[1:]); len(found) != 1 || found["beta"].Breaker.State != schemas.BreakerOpen || len(found["beta"].Instances) != 1 {
		t.Errorf("without alpha there are %+v", found)
	}
	if alpha := configure(both)["alpha"]; alpha.State != schemas.AgentRevoked || len(alpha.Instances) != 0 || alpha.Breaker.State != schemas.BreakerClosed {
		t.Errorf("it comes back as %+v", alpha)
	}
}

// TestRevocationIsOnRecord: who is revoked is refused everything, nobody may ask it, and the next start knows it.
func TestRevocationIsOnRecord(t *testing.T) {
	t.Parallel()
	ledger, standing := memory.New(1), registry.NewStanding()
	serve(t, ledger, standing)
	worker := ledger.Worker("alpha")
	say(t, worker, bus.ServiceAnnounce, `{"name":"alpha"}`)
	told := schemas.Revocation{At: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Reason: schemas.RevokedByOperator, Key: "U"}
	if err := registry.Revoke(t.Context(), ledger, standing, "alpha", told); err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		for _, service := range []string{bus.ServiceAnnounce, bus.ServiceAlive, bus.ServiceArtifact, bus.ServicePartial} {
			if _, err := worker.Ask(t.Context(), service, []byte(`{"name":"alpha"}`)); !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), "podium agents add alpha") {
				t.Errorf("%s: %s answers %v", when, service, err)
			}
		}
		if !standing.Barred("alpha", time.Now()) {
			t.Errorf("%s: it may be asked", when)
		}
		if entry := list(t, ledger)["alpha"]; entry.State != schemas.AgentRevoked || *entry.Revoked != told {
			t.Errorf("%s: listed as %+v", when, entry)
		}
	}
	refused("revoked")
	standing = registry.NewStanding()
	serve(t, ledger, standing)
	refused("after a restart")
	if err := registry.Readmit(t.Context(), ledger, standing, "alpha"); err != nil {
		t.Fatal(err)
	}
	if standing.Barred("alpha", time.Now()) || list(t, ledger)["alpha"].State != schemas.AgentOK {
		t.Error("taken in again, and it is barred")
	}
}
