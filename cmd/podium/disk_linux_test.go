package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podium/bus/bustest/smalldisk"
	"podium/schemas/workflow"
)

// TestDiskFills: a disk that fills is said before it is full, and truly for as long as it
// lasts; nothing new is taken then, nobody is left waiting, and it heals by itself. What
// was acknowledged is there.
func TestDiskFills(t *testing.T) {
	t.Parallel()
	for kind, durability := range map[string]string{smalldisk.TmpFS: "fsync", smalldisk.Ext4: "interval"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			disk := smalldisk.Mount(t, kind, 192<<20)
			f := &filling{deployment: install(t, fmt.Sprintf(diskConfig, webSecret), "ledger: {shards: 2, durability: "+durability+"}"), disk: disk}
			f.data = filepath.Join(disk.Path, "data")
			f.up()
			f.load()
			f.isSaidBefore()
			f.isRefused()
			f.isFull()
			f.heals()
			f.stopsWhileFull()
			f.lostNothing()
		})
	}
}

// A filling is a deployment on a disk that others fill.
type filling struct {
	*deployment
	disk *smalldisk.Disk

	mu       sync.Mutex
	taken    []string // ids of messages that were acknowledged
	refused  int
	sent     int
	stopLoad func()
}

// load sends some hundred messages a second, until stopLoad is called.
func (f *filling) load() {
	ctx, cancel := context.WithCancel(context.Background())
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for ctx.Err() == nil {
				f.sendOne(ctx)
				<-pace.C
			}
		})
	}
	f.stopLoad = sync.OnceFunc(func() { cancel(); senders.Wait() })
	f.t.Cleanup(f.stopLoad)
}

// sendOne has a message answered: it is taken, or refused with a reason.
func (f *filling) sendOne(ctx context.Context) {
	f.mu.Lock()
	f.sent++
	id := fmt.Sprint("message-", f.sent)
	f.mu.Unlock()
	attempt, stop := context.WithTimeout(ctx, patience)
	defer stop()
	began := time.Now()
	status, body, err := webhook{id: id, text: "What is 6 * 7? " + strings.Repeat("word ", 200), thread: id}.post(attempt, f.listen)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case ctx.Err() != nil: // the answer was not waited for
	case err != nil:
		f.t.Errorf("a message had no answer after %s: %v", time.Since(began), err)
	case status == http.StatusAccepted:
		f.taken = append(f.taken, id)
	case status == http.StatusServiceUnavailable && (strings.Contains(string(body), "ledger-full") || strings.Contains(string(body), "ledger-unavailable")):
		f.refused++
	default:
		f.t.Errorf("a message is answered %d: %s", status, body)
	}
}

func (f *filling) counts() (taken, refused int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.taken), f.refused
}

func (f *filling) isSaidBefore() {
	f.t.Helper()
	eventually(f.t, "messages are taken", func() bool { taken, _ := f.counts(); return taken > 50 })
	f.stopLoad()
	f.saysOfLedger(http.StatusOK, "ok")
	if free := f.metric("podium_ledger_disk_free_bytes"); free <= 0 || free > 192<<20 || f.metric("podium_ledger_bytes") <= 0 || f.metric("podium_ledger_limit_bytes") != 64<<30 {
		f.t.Errorf("%.0f bytes are free, %.0f used of %.0f", free, f.metric("podium_ledger_bytes"), f.metric("podium_ledger_limit_bytes"))
	}
	f.disk.Fill(26 << 20)
	f.saysOfLedger(http.StatusOK, "nearly full: ", "MB are left")
	eventually(f.t, "the log says so", func() bool { return strings.Contains(f.process.stderr.String(), "the ledger is nearly full") })
	if used := f.metric("podium_ledger_used_ratio"); used < 0.8 || used >= 1 {
		f.t.Errorf("used is %f", used)
	}
	before, _ := f.counts()
	f.sendOne(f.t.Context())
	if taken, _ := f.counts(); taken != before+1 {
		f.t.Error("a message is not taken while the disk is nearly full")
	}
}

func (f *filling) isRefused() {
	f.t.Helper()
	f.disk.Fill(13 << 20)
	f.load()
	f.saysOfLedger(http.StatusServiceUnavailable, "full: ", "make room")
	eventually(f.t, "messages are refused", func() bool { _, refused := f.counts(); return refused > 0 })
	eventually(f.t, "the log says so", func() bool { return strings.Contains(f.process.stderr.String(), "nothing new is taken") })
	if f.metric("podium_ledger_healthy") != 0 || f.metric("podium_ledger_used_ratio") < 0.9 {
		f.t.Errorf("healthy is %f, used %f", f.metric("podium_ledger_healthy"), f.metric("podium_ledger_used_ratio"))
	}
	f.stopLoad()
	eventually(f.t, "what is under way ends", func() bool { return f.open() == 0 })
	f.refusesToSend()
}

// refusesToSend expects the verb to say what is the matter, and to end.
func (f *filling) refusesToSend() {
	f.t.Helper()
	for _, more := range [][]string{nil, {"--wait"}} {
		sent := f.podium(append([]string{"send", "What is 6 * 7?"}, more...)...)
		if sent.code != exitFailed || !strings.Contains(sent.stderr, "full") {
			f.t.Errorf("send %v ended with %d: %s%s", more, sent.code, sent.stdout, sent.stderr)
		}
	}
}

// open counts the runs that have not ended.
func (f *filling) open() (open int) {
	for _, run := range f.runs() {
		if run.Phase != workflow.PhaseComplete {
			open++
		}
	}
	return open
}

// isFull takes the last byte while messages come in.
func (f *filling) isFull() {
	f.t.Helper()
	f.disk.Free()
	f.saysOfLedger(http.StatusOK, "ok")
	before, _ := f.counts()
	f.load()
	eventually(f.t, "messages are taken again", func() bool { taken, _ := f.counts(); return taken > before+20 })
	f.disk.Fill(0)
	f.saysOfLedger(http.StatusServiceUnavailable, "full: ")
	_, refused := f.counts()
	eventually(f.t, "messages are refused at once", func() bool { _, now := f.counts(); return now > refused+20 })
	f.refusesToSend()
	f.saysOfLedger(http.StatusServiceUnavailable, "full: ")
	if f.metric("podium_ledger_disk_free_bytes") > 1<<20 {
		f.t.Errorf("%f bytes are free", f.metric("podium_ledger_disk_free_bytes"))
	}
}

func (f *filling) heals() {
	f.t.Helper()
	before, _ := f.counts()
	f.disk.Free()
	f.saysOfLedger(http.StatusOK, "ok")
	eventually(f.t, "messages are taken without a restart", func() bool { taken, _ := f.counts(); return taken > before+20 })
	sent := f.podium("send", "What is 6 * 7?", "--wait").succeeds(f.t)
	if !strings.Contains(sent.stdout, "42") {
		f.t.Errorf("send says %s", sent.stdout)
	}
}

func (f *filling) stopsWhileFull() {
	f.t.Helper()
	f.disk.Fill(0)
	_, refused := f.counts()
	eventually(f.t, "messages are refused", func() bool { _, now := f.counts(); return now > refused })
	f.stopLoad()
	if err := f.process.command.Process.Signal(syscall.SIGTERM); err != nil {
		f.t.Fatal(err)
	}
	eventually(f.t, "it ends", func() bool { return !f.process.running() })
	f.disk.Free()
}

func (f *filling) lostNothing() {
	f.t.Helper()
	f.verify()
	f.up()
	eventually(f.t, "all runs end", func() bool { return f.open() == 0 })
	began := map[string]bool{}
	for _, run := range f.runs() {
		began[run.Message.ID] = true
	}
	missing := 0
	for _, id := range f.taken {
		if !began["chat:web:"+id] {
			missing++
		}
	}
	if missing > 0 || len(f.taken) == 0 {
		f.t.Errorf("%d of %d acknowledged messages have no run", missing, len(f.taken))
	}
	f.stop()
	f.verify()
}
