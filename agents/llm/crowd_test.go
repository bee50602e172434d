package llm_test

import (
	nethttp "net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
)

// TestNothingIsLeftBehind: after 1,000 requests, eight at a time, of which many fail in every way, no goroutine and no
// descriptor is left of them.
func TestNothingIsLeftBehind(t *testing.T) { //nolint:paralleltest // it counts what all tests have
	var calls atomic.Int64
	server := modelserver.Start(t, func(*modelserver.Call) modelserver.Answer {
		call := calls.Add(1)
		if call%200 == 4 {
			return modelserver.Answer{Text: "It is", Silent: true}
		}
		switch call % 50 {
		case 1:
			return modelserver.Answer{Status: 500}
		case 2:
			return modelserver.Answer{Text: "It is", Truncated: true}
		case 3:
			return modelserver.Answer{Text: "It is 42", Broken: true}
		case 5:
			return modelserver.Answer{Raw: "<html>"}
		}
		return modelserver.Answer{Text: decision}
	})
	transport := &nethttp.Transport{MaxIdleConnsPerHost: 8}
	goroutines, descriptors := runtime.NumGoroutine(), opened(t)
	began := time.Now()
	var working sync.WaitGroup
	var answered atomic.Int64
	for worker := range 8 {
		role := []llm.Role{llm.RoleRouter, llm.RoleWorker}[worker%2]
		made, err := llm.New(llm.Config{Role: role, BaseURL: server.URL, Model: "m", Client: &nethttp.Client{Transport: transport}, Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		working.Go(func() {
			for range 125 {
				if _, err := made.Handle(t.Context(), request(role, "energy"), func(int, string) {}); err == nil {
					answered.Add(1)
				}
			}
		})
	}
	working.Wait()
	t.Logf("%d of 1,000 answered, %.0f a second", answered.Load(), 1000/time.Since(began).Seconds())
	if answered.Load() < 800 || answered.Load() > 960 {
		t.Errorf("%d of 1,000 were answered", answered.Load())
	}
	transport.CloseIdleConnections()
	for end := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > goroutines+2 || opened(t) > descriptors+2; {
		if time.Now().After(end) {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before; %d descriptors, %d before\n%s", runtime.NumGoroutine(), goroutines, opened(t), descriptors, all[:runtime.Stack(all, true)])
		}
		runtime.Gosched()
	}
}

// opened counts the descriptors of this process, where the system tells.
func opened(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
