package chat

import (
	"net/http"
	"testing"
	"time"
)

// The vector is the one of the Standard Webhooks reference libraries.
func TestSignMatchesTheReferenceVector(t *testing.T) {
	t.Parallel()
	key, err := parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	sign(header, key, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got, want := header.Get("webhook-signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestSecretWithAndWithoutPrefixAndPadding(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"aGFsbG8", "aGFsbG8=", "whsec_aGFsbG8=", " whsec_aGFsbG8\n"} {
		key, err := parseSecret(text)
		if err != nil || string(key) != "hallo" {
			t.Errorf("%q: %q, %v", text, key, err)
		}
	}
}
