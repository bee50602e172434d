package main

import (
	"strings"
	"testing"

	"podium/schemas/workflow"
)

// lintConfig has a check that passes what was mended, and nothing before.
const lintConfig = `
agents:
  coder: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo code']}
  lint:
    kind: exec
    kinds: [judge]
    command:
      - sh
      - -c
      - if grep -q check:lint:2; then found='"passed"'; else found='"failed","issues":[{"severity":"error","message":"no colon","file":"a.py","line":2}]'; fi; echo '{"validation_results":[{"validator":"lint","status":'"$found"'}]}'
profiles:
  desk: {agents: [coder], routers: [{kind: default, agent: coder}], review: {rounds: 1, checks: [{agent: lint}]}}
`

// TestRunsShowTheReview: runs show tells each round of the review of a run, and not only the last that its state keeps.
func TestRunsShowTheReview(t *testing.T) {
	t.Parallel()
	i := install(t, lintConfig, "ledger: {shards: 1}")
	i.up()
	i.podium("send", "Please.", "--wait", "--timeout", "1m").succeeds(t)
	run := i.runs()[0]
	within(t, patience, "it has ended", func() bool { return i.run(run.ID).Phase == workflow.PhaseComplete })
	shown := i.podium("runs", "show", run.ID).succeeds(t).stdout
	for _, want := range []string{
		"✗ check:lint:1 lint       completed  1 error\n",
		"✓ check:lint:2 lint       completed  passed\n",
		`✗ 1        review     failed     back to work
           check by lint: failed, 1 error
           a.py:2: error: no colon (to mend: t1 by coder)
           mends t1: fix1.t1 by coder, completed
✓ 2        review     passed     
           check by lint: passed
`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
}
