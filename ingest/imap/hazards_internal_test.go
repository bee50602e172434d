package imap

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestLateCanaryProvesNothing_I13: the arrival of an earlier one does not end the
// alarm for the newest.
func TestLateCanaryProvesNothing_I13(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent []time.Time
		adapter := statusAdapter(t, Config{CanaryEvery: time.Hour, CanaryWithin: 5 * time.Minute, CanaryKey: []byte("key"), AlarmAfter: 240 * time.Hour}, Dependencies{
			SendCanary: func(context.Context, string) error { sent = append(sent, time.Now()); return nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- adapter.Run(ctx) }()
		adapter.succeeded(time.Now())
		time.Sleep(time.Hour + 10*time.Minute)
		synctest.Wait()
		if len(sent) != 2 || !adapter.Status().Canary.Overdue {
			t.Fatalf("%d were sent: %+v", len(sent), adapter.Status().Canary)
		}
		adapter.canaryArrived(sent[0])
		if canary := adapter.Status().Canary; !canary.Overdue {
			t.Errorf("one that took 70 minutes ended the alarm for the next: %+v", canary)
		}
		adapter.canaryArrived(sent[1])
		if canary := adapter.Status().Canary; canary.Overdue || canary.RoundTrip != 10*time.Minute {
			t.Errorf("the newest did not end it: %+v", canary)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestSpoolLeavesNothingBehind: a process that is killed leaves no mail in the
// folder of temporary files, where the system lets a file that is open be removed.
func TestSpoolLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := newSpool(folder, 0)
	content := bytes.Repeat([]byte("mail\r\n"), spoolMemory/4)
	if _, err := s.Write(content); err != nil || s.file == nil {
		t.Fatalf("%v, on disk: %t", err, s.file != nil)
	}
	left, err := os.ReadDir(folder)
	if err != nil || runtime.GOOS != "windows" && len(left) != 0 {
		t.Errorf("%d files would be left (%v)", len(left), err)
	}
	r, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	if read, err := io.ReadAll(r); err != nil || !bytes.Equal(read, content) {
		t.Errorf("%d bytes of %d: %v", len(read), len(content), err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if left, err = os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("afterwards %d files (%v)", len(left), err)
	}
}
