package session_test

import (
	"strings"
	"testing"
	"time"
)

// TestWhoIsDismissedIsToldNothing: who is taken out of the configuration while a run waits gets no reminder with what the requester has
// written, and one whose address has changed gets it there, where their answer counts.
func TestWhoIsDismissedIsToldNothing(t *testing.T) {
	t.Parallel()
	s, _ := attack(t, `
profile
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support}, ben: {mail: ben@practice.example, account: support}}
agents: [{name: doctor, person: {people: [anna, ben], remind: 4h, expire: 48h}}]
routers: [{kind: default, agent: doctor}]
----

chat id=c1 thread=t user=U1
Please look at my arm.
----

answer task=ask:1:1 receipt=q1@support.example
----

profile
waiting: {expire: 72h, asks: 2}
people: {ben: {mail: ben@new.example, account: support}}
agents: [{name: doctor, person: {people: [ben], remind: 4h, expire: 48h}}]
routers: [{kind: default, agent: doctor}]
----
`)
	s.now = s.now.Add(4 * time.Hour)
	due, ok := s.due(s.now)
	if !ok {
		t.Fatal("nobody is reminded")
	}
	var all strings.Builder
	for _, output := range s.expire(t, due).outputs {
		all.Write(output.Event.Data)
	}
	told := all.String()
	if strings.Contains(told, "anna@practice.example") {
		t.Errorf("who was dismissed is told once more: %s", told)
	}
	if strings.Contains(told, "ben@practice.example") || !strings.Contains(told, "ben@new.example") {
		t.Errorf("ben is told where he is not any more: %s", told)
	}
}
