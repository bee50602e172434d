package webhook_test

import (
	"fmt"
	"net/http"
	"time"

	"podium/ingest/webhook"
)

// A sender proves itself by a signature over the raw body, which holds for five minutes;
// the refusal is the same whatever is wrong.
func ExampleVerifier_Verify() {
	verifier, err := webhook.New([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "")
	if err != nil {
		fmt.Println(err)
	}
	signed := time.Unix(1614265330, 0)
	body := []byte(`{"test": 2432232314}`) // the example of the Standard Webhooks specification
	header := http.Header{}
	header.Set(webhook.HeaderID, "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set(webhook.HeaderTimestamp, "1614265330")
	header.Set(webhook.HeaderSignature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")

	fmt.Println(verifier.Verify(body, header, signed.Add(time.Minute)))
	fmt.Println(verifier.Verify(body, header, signed.Add(time.Hour)))
	fmt.Println(verifier.Verify([]byte(`{"test": 1}`), header, signed.Add(time.Minute)))
	// Output:
	// true
	// false
	// false
}
