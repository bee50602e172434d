package main

import (
	"context"
	"testing"
)

func TestWork(t *testing.T) {
	for words, want := range map[string]string{"shout hooray": "SHOUT HOORAY", "in 1 seconds": "IN 1 SECONDS"} {
		if got, err := work(context.Background(), task{Description: words}, func(int, string) {}); err != nil || got != want {
			t.Errorf("%q becomes %q, %v, want %q", words, got, err, want)
		}
	}
}

func TestWorkFailsWhereThereIsNothingToWrite(t *testing.T) {
	if got, err := work(context.Background(), task{Description: "2 + 2"}, func(int, string) {}); err == nil || err.Error() != "There is no letter in it." {
		t.Errorf("it becomes %q, %v", got, err)
	}
}
