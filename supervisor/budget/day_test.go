package budget_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"podium/schemas"
	"podium/supervisor/budget"
)

// TestTwoOwnersLeaveADayRight: two owners that live at a time reserve, give back and settle the same requests in any order, as each knows of them.
// What was reserved before it was answered is counted once, and then nothing is reserved for it any more.
func TestTwoOwnersLeaveADayRight(t *testing.T) {
	t.Parallel()
	const requests, tokens = 8, 10
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 8))
		var account budget.DayAccount
		var reserved, counts [requests]bool
		for range 200 {
			n := r.IntN(requests)
			request := fmt.Sprint("request ", n)
			want := budget.DayReservation{Request: request, Agent: fmt.Sprint("agent ", n%2), Usage: schemas.Usage{Tokens: 20}}
			switch r.IntN(4) {
			case 0, 1:
				claim := schemas.DayClaim{Need: want.Usage, Run: schemas.Usage{Tokens: 1000}}
				if short, _ := account.Reserve(&want, &claim, "2026-11-27"); short != nil {
					t.Fatalf("seed %d: %s has no room: %+v", seed, request, short)
				}
				reserved[n] = true
			case 2:
				account.Release(request)
			case 3:
				settled := account.Settle(request, schemas.Usage{Tokens: tokens})
				if settled != (reserved[n] && !counts[n]) {
					t.Fatalf("seed %d: %s is settled: %v, reserved before: %v, counted before: %v", seed, request, settled, reserved[n], counts[n])
				}
				counts[n] = counts[n] || settled
			}
			total := int64(0)
			for n, counted := range counts {
				if counted {
					total += tokens
				}
				for _, open := range account.Open {
					if counted && open.Request == fmt.Sprint("request ", n) {
						t.Fatalf("seed %d: %s is counted, and reserved again", seed, open.Request)
					}
				}
			}
			if used := account.Taken("").Tokens - account.Reserved("").Tokens; used != total {
				t.Fatalf("seed %d: %d tokens are counted, want %d", seed, used, total)
			}
		}
	}
}

// TestADayRemembersAFew: what was closed last, so that an account stays small.
func TestADayRemembersAFew(t *testing.T) {
	t.Parallel()
	var account budget.DayAccount
	for n := range 3 * budget.MaxClosed {
		want := budget.DayReservation{Request: strconv.Itoa(n), Agent: "agent", Usage: schemas.Usage{Tokens: 1}}
		account.Reserve(&want, &schemas.DayClaim{Need: want.Usage}, "2026-11-27")
		if !account.Settle(want.Request, want.Usage) {
			t.Fatalf("request %d is not settled", n)
		}
	}
	if len(account.Closed) != budget.MaxClosed || account.Closed[budget.MaxClosed-1].Request != strconv.Itoa(3*budget.MaxClosed-1) {
		t.Errorf("%d are remembered, the last %v", len(account.Closed), account.Closed[len(account.Closed)-1])
	}
}

// TestWhatWasGivenBackIsRememberedLonger: however much is settled meanwhile, since its request may be answered hours later.
func TestWhatWasGivenBackIsRememberedLonger(t *testing.T) {
	t.Parallel()
	var account budget.DayAccount
	reserve := func(request string) {
		account.Reserve(&budget.DayReservation{Request: request, Agent: "agent", Usage: schemas.Usage{Tokens: 1}}, &schemas.DayClaim{}, "2026-11-27")
	}
	reserve("given back")
	account.Release("given back")
	for n := range 2 * budget.MaxClosed {
		reserve(strconv.Itoa(n))
		account.Settle(strconv.Itoa(n), schemas.Usage{Tokens: 1})
	}
	if !account.Settle("given back", schemas.Usage{Tokens: 7}) || account.Taken("").Tokens != 2*budget.MaxClosed+7 {
		t.Errorf("%d tokens are counted", account.Taken("").Tokens)
	}
}
