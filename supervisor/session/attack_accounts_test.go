package session_test

import (
	"strings"
	"testing"
)

// TestAllPeopleAreWrittenTo: everybody whom an agent of kind person names is written to, also where they have accounts of their own.
func TestAllPeopleAreWrittenTo(t *testing.T) {
	t.Parallel()
	s, _ := attack(t, `
profile
edition: 1
people: {anna: {mail: anna@practice.example, account: support}, ben: {mail: ben@practice.example, account: night}}
agents: [{name: doctor, person: {people: [anna, ben], expire: 48h}}]
routers: [{kind: default, agent: doctor}]
----

chat id=c1 thread=t user=U1
Please look at my arm.
----
`)
	told := ""
	for _, record := range s.records {
		for _, output := range s.owed(t, &s.state, record) {
			told += string(output.Event.Data)
		}
	}
	for _, person := range []string{"anna@practice.example", "ben@practice.example"} {
		if !strings.Contains(told, person) {
			t.Errorf("nobody writes to %s", person)
		}
	}
}
