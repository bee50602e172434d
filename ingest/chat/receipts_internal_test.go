package chat

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"

	"podium/bus/intake"
)

func TestReceiptsSubmitOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReceipts(8)
		release, submitted := make(chan struct{}), 0
		results := make(chan intake.Receipt, 4)
		for range 4 {
			go func() {
				receipt, _, err := r.once(t.Context(), "k", func() (intake.Receipt, error) {
					submitted++
					<-release
					return intake.Receipt{Sequence: 7}, nil
				})
				if err != nil {
					t.Error(err)
				}
				results <- receipt
			}()
		}
		synctest.Wait()
		close(release)
		for range 4 {
			if receipt := <-results; receipt.Sequence != 7 {
				t.Errorf("receipt %+v", receipt)
			}
		}
		if submitted != 1 {
			t.Errorf("submitted %d times", submitted)
		}
	})
}

func TestReceiptsForgetFailures(t *testing.T) {
	t.Parallel()
	r := newReceipts(8)
	failure := errors.New("away")
	if _, _, err := r.once(t.Context(), "k", func() (intake.Receipt, error) { return intake.Receipt{}, failure }); !errors.Is(err, failure) {
		t.Fatalf("error %v", err)
	}
	receipt, _, err := r.once(t.Context(), "k", func() (intake.Receipt, error) { return intake.Receipt{Sequence: 1}, nil })
	if err != nil || receipt.Sequence != 1 {
		t.Errorf("after a failure: %+v, %v", receipt, err)
	}
}

func TestReceiptsReleaseWaitersOfAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReceipts(8)
		panicNow, waited := make(chan struct{}), make(chan error, 1)
		go func() {
			defer func() { _ = recover() }()
			_, _, _ = r.once(t.Context(), "k", func() (intake.Receipt, error) { <-panicNow; panic("broken") })
		}()
		synctest.Wait()
		go func() {
			_, _, err := r.once(t.Context(), "k", func() (intake.Receipt, error) { return intake.Receipt{}, nil })
			waited <- err
		}()
		synctest.Wait()
		close(panicNow)
		if err := <-waited; !errors.Is(err, errAbandoned) {
			t.Errorf("the waiter got %v", err)
		}
	})
}

func TestReceiptsWaiterMayLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReceipts(8)
		release := make(chan struct{})
		go func() {
			_, _, _ = r.once(t.Context(), "k", func() (intake.Receipt, error) { <-release; return intake.Receipt{}, nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := r.once(ctx, "k", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		close(release)
	})
}

func TestReceiptsAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 4
	r := newReceipts(limit)
	submit := func(key string) (fresh bool) {
		_, repeated, err := r.once(t.Context(), key, func() (intake.Receipt, error) { fresh = true; return intake.Receipt{}, nil })
		if err != nil || repeated == fresh {
			t.Fatalf("repeated %t, fresh %t, error %v", repeated, fresh, err)
		}
		return fresh
	}
	submit("kept")
	for i := range 100 {
		submit(strconv.Itoa(i))
		if submit("kept") {
			t.Fatalf("the most recently used was forgotten after %d others", i+1)
		}
		if r.byKey.Len() > limit {
			t.Fatalf("%d keys", r.byKey.Len())
		}
	}
	if !submit("0") {
		t.Error("the oldest was not forgotten")
	}
}
