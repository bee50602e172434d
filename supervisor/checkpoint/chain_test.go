package checkpoint

import (
	"testing"

	"podium/schemas"
)

// TestLowWatermarkKeepsItsEpoch: a takeover repeats a low watermark that is not its own. Whoever
// takes over from one that has written no low watermark still knows whose the low watermark is,
// and which records it says nothing of.
func TestLowWatermarkKeepsItsEpoch_X03(t *testing.T) {
	t.Parallel()
	chain := Chain{open: map[string]struct{}{}}
	takeover := func(epoch, sequence uint64) {
		taken := chain.unchanged()
		taken.Epoch = epoch
		chain.add(&taken, sequence)
	}
	chain.add(&schemas.Checkpoint{Epoch: 4, Since: 60, LowWatermark: 80}, 81)
	takeover(5, 87)
	chain.add(&schemas.Checkpoint{Epoch: 5, Since: 87, LowWatermark: 95}, 114)
	takeover(6, 123)
	takeover(7, 130)
	latest := Writer{before: chain, Epoch: 8, since: 140}
	for name, test := range map[string]struct {
		sequence, epoch uint64
		byFenced        bool
	}{
		"of the owner before the low watermark's, after its end":  {94, 4, true},
		"of the owner before the low watermark's, in its time":    {86, 4, false},
		"of the low watermark's owner":                            {94, 5, false},
		"of an owner that did not know that it was over":          {150, 7, true},
		"of the present owner":                                    {150, 8, false},
		"of an owner without a low watermark of its own, in time": {125, 6, false},
	} {
		if latest.WrittenByFenced(test.epoch, test.sequence) != test.byFenced {
			t.Errorf("a record %s counts as a fenced owner's: %v", name, !test.byFenced)
		}
	}
}
