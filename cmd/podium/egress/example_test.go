package egress_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"podium/cmd/podium/egress"
)

// What is wrong is said when a URL is read, and what only the dial can know, then.
func Example() {
	policy, err := egress.Parse("erp.example:443", "127.0.0.1:11434")
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"https://erp.example/v1", "http://127.0.0.1:11434/v1", "https://example.org", "http://localhost:11434", "http://0x7f.1:11434"} {
		target, err := url.Parse(text)
		if err != nil {
			panic(err)
		}
		fmt.Println(text, errors.Is(policy.Check(target), egress.ErrEgress))
	}
	guard := egress.Guard{Policy: policy}
	_, err = guard.DialContext(context.Background(), "tcp", "erp.example:8443") // nothing is resolved
	fmt.Println(err)
	// Output:
	// https://erp.example/v1 false
	// http://127.0.0.1:11434/v1 false
	// https://example.org true
	// http://localhost:11434 true
	// http://0x7f.1:11434 true
	// egress does not lead there: erp.example:8443 is not in egress, which is ["erp.example:443", "127.0.0.1:11434"]; if it is meant, add "erp.example:8443" there in podium.yaml
}
