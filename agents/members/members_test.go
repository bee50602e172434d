package members_test

import (
	"testing"

	"podium/agents/members"
)

// TestNames: members have the names of the installation in what is written, what is asked for and in schemas, at any depth, and their own in what is read.
func TestNames(t *testing.T) {
	t.Parallel()
	names := members.Names{"person": "guest", "number": "room"}
	for own, called := range map[string]string{
		`{"data":{"person":"person","n":1.50},"list":[{"number":"7"}]}`:                        `{"data":{"guest":"person","n":1.50},"list":[{"room":"7"}]}`,
		`{"anyOf":[{"required":["person","date"]}],"properties":{"person":{"type":"string"}}}`: `{"anyOf":[{"required":["guest","date"]}],"properties":{"guest":{"type":"string"}}}`,
		`{"type":"number","enum":["person"]}`:                                                  `{"enum":["person"],"type":"number"}`,
		`{"person":{"person":1,"n":12345678901234567890}}`:                                     `{"guest":{"person":1,"n":12345678901234567890}}`,
		`{"broken`: `{"broken`,
		``:         ``,
	} {
		if written := string(names.Write([]byte(own))); written != called {
			t.Errorf("%s is written as %s, want %s", own, written, called)
		}
		if again := string(names.Write(names.Read([]byte(called)))); again != called {
			t.Errorf("%s is read and written as %s", called, again)
		}
		if same := string(members.Names(nil).Write([]byte(own))); same != own {
			t.Errorf("without names %s is written as %s", own, same)
		}
	}
	if path := names.Path("data.person"); path != "data.guest" {
		t.Errorf("the path is %s", path)
	}
}
