package agent_test

import (
	"errors"
	"testing"
	"time"

	"podium/bus/agent"
	"podium/bus/keyring"
)

// TestTicketsAreSealedForTheirAgent: a ticket comes back whole from its token, for its agent alone. One that was handed out by an earlier
// version opens too: an endpoint may keep it for as long as its request lives.
func TestTicketsAreSealedForTheirAgent(t *testing.T) {
	t.Parallel()
	ring, err := keyring.New([]byte("a secret of tests"))
	if err != nil {
		t.Fatal(err)
	}
	ticket := agent.Ticket{
		Request: "r1", From: "supervisor", Plan: "p", Task: "t1", Attempt: 2, ReplyTo: "podium.agent.erp.response.0",
		Started: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Expires: time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC),
	}
	token, err := ticket.Seal(ring, "erp")
	if err != nil {
		t.Fatal(err)
	}
	const earlier = "fixed.CtmhcHJ368N3UGbO8Fut6wL1LRg7qHwPA8meXN_smJ_pb0wcKrlMQq7rkiZWJfTEddrP6X9trtC_5rimV5bF7e7kSrMTHf5asdlIMtxx6mtco4BnJpNlVDn-Si5z0DVzJMsm6GXFk4V2A_J2yB9dRQKbfUH15GoOQWOobLozYpZBipg1UCPa8UGYFJkCSKoRytoNpY-Rqym-KJZrcE3z-_y4MaAzVXab1UhCSKS7BtrSn_EYG8jA2yY46j--iF_T1hkFsp1W6pBhqw"
	for name, token := range map[string]string{"of now": token, "of before": earlier} {
		opened, err := agent.OpenTicket(t.Context(), ring, "erp", token)
		if err != nil || opened != ticket {
			t.Errorf("%s: %+v, %v", name, opened, err)
		}
		if _, err := agent.OpenTicket(t.Context(), ring, "desk", token); !errors.Is(err, keyring.ErrNotSealed) {
			t.Errorf("%s, for another agent: %v", name, err)
		}
	}
}
