package imap

import (
	"testing"
	"time"
)

// A mailbox in which nothing arrives is looked at before its alarm would be raised.
func TestQuietMailboxRaisesNoAlarm_I13(t *testing.T) {
	t.Parallel()
	for alarm, want := range map[time.Duration]time.Duration{
		0: 9 * time.Minute, 15 * time.Minute: 9 * time.Minute, time.Hour: 9 * time.Minute,
		10 * time.Minute: 6 * time.Minute, 10 * time.Second: 6 * time.Second,
	} {
		config := Config{AlarmAfter: alarm}.withDefaults()
		if config.IdleReissue != want || config.IdleReissue >= config.AlarmAfter {
			t.Errorf("alarm after %s: looked at every %s, want %s", alarm, config.IdleReissue, want)
		}
	}
	if config := (Config{AlarmAfter: time.Minute, IdleReissue: time.Hour}).withDefaults(); config.IdleReissue != time.Hour {
		t.Errorf("what is named is changed to %s", config.IdleReissue)
	}
}
