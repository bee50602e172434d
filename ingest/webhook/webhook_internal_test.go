package webhook

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The vectors are those that the Standard Webhooks and Svix documentation publish.
func TestGoldenSignatures(t *testing.T) {
	t.Parallel()
	for _, vector := range []struct{ secret, id, timestamp, body, signature string }{
		{
			"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
			`{"test": 2432232314}`, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		},
		{
			"whsec_plJ3nmyCDGBKInavdOK15jsl", "msg_loFOjxBNrRLzqYUf", "1731705121",
			`{"event_type":"ping","data":{"success":true}}`, "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
		},
	} {
		t.Run(vector.id, func(t *testing.T) {
			t.Parallel()
			// One of the published keys is shorter than a channel may have.
			key, err := parseSecret(vector.secret)
			if err != nil {
				t.Fatal(err)
			}
			v := Decoy()
			v.keys[1] = key
			header := signedHeader(vector.id, vector.timestamp, vector.signature)
			seconds, err := strconv.ParseInt(vector.timestamp, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if !v.Verify([]byte(vector.body), header, time.Unix(seconds, 0)) {
				t.Error("the published signature is refused")
			}
			if v.Verify([]byte(vector.body+" "), header, time.Unix(seconds, 0)) {
				t.Error("a changed body is accepted")
			}
		})
	}
}

func signedHeader(id, timestamp, signature string) http.Header {
	header := http.Header{}
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, timestamp)
	header.Set(HeaderSignature, signature)
	return header
}

const (
	secretA   = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	secretB   = "whsec_" + "C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	longToken = "correct-horse-battery"
)

func signatureBy(t *testing.T, secret, id, timestamp string, body []byte) string {
	t.Helper()
	key, err := parseSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	return symmetric + "," + base64.StdEncoding.EncodeToString(sign(key, []byte(id+"."+timestamp+"."), body))
}

func TestVerify(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	at := func(offset time.Duration) string { return strconv.FormatInt(now.Add(offset).Unix(), 10) }
	body := []byte(`{"text":"hello"}`)
	v, err := New([]string{secretA, secretB}, longToken)
	if err != nil {
		t.Fatal(err)
	}
	byA := signatureBy(t, secretA, "m1", at(0), body)
	byB := signatureBy(t, secretB, "m1", at(0), body)
	stranger := signatureBy(t, "whsec_"+base64.StdEncoding.EncodeToString(make([]byte, 24)), "m1", at(0), body)
	timed := func(timestamp string) http.Header {
		return signedHeader("m1", timestamp, signatureBy(t, secretA, "m1", timestamp, body))
	}
	bearer := func(value string) http.Header { return http.Header{"Authorization": {value}} }
	for name, test := range map[string]struct {
		header http.Header
		want   bool
	}{
		"first secret":             {signedHeader("m1", at(0), byA), true},
		"second secret":            {signedHeader("m1", at(0), byB), true},
		"list, last is right":      {signedHeader("m1", at(0), "v1a,AAAA "+stranger+" "+byB), true},
		"another secret":           {signedHeader("m1", at(0), stranger), false},
		"another version":          {signedHeader("m1", at(0), "v2"+byA[2:]), false},
		"no version":               {signedHeader("m1", at(0), byA[3:]), false},
		"truncated":                {signedHeader("m1", at(0), symmetric+","+byA[3:7]), false},
		"another id":               {signedHeader("m2", at(0), byA), false},
		"no id":                    {signedHeader("", at(0), signatureBy(t, secretA, "", at(0), body)), false},
		"another timestamp":        {signedHeader("m1", at(time.Second), byA), false},
		"five minutes old":         {timed(at(-Skew)), true},
		"five minutes ahead":       {timed(at(Skew)), true},
		"older":                    {timed(at(-Skew - time.Second)), false},
		"farther ahead":            {timed(at(Skew + time.Second)), false},
		"timestamp is no number":   {timed("yesterday"), false},
		"timestamp out of range":   {timed("9223372036854775807"), false},
		"timestamp below range":    {timed("-9223372036854775808"), false},
		"too many signatures":      {signedHeader("m1", at(0), strings.Repeat(stranger+" ", maxSignatures)+byA), false},
		"token":                    {bearer("Bearer " + longToken), true},
		"token, scheme lower-case": {bearer("bearer " + longToken), true},
		"another token":            {bearer("Bearer " + longToken + "x"), false},
		"token, another scheme":    {bearer("Basic " + longToken), false},
		"empty token":              {bearer("Bearer "), false},
		"nothing":                  {http.Header{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := v.Verify(body, test.header, now); got != test.want {
				t.Errorf("accepted = %v, want %v", got, test.want)
			}
		})
	}
}

func TestNoByteOfASignatureIsIgnored(t *testing.T) {
	t.Parallel()
	v, err := New([]string{secretA}, "")
	if err != nil {
		t.Fatal(err)
	}
	now, body := time.Unix(1_700_000_000, 0), []byte("{}")
	good := sign(v.keys[0], []byte("m.1700000000."), body)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		header := signedHeader("m", "1700000000", symmetric+","+base64.StdEncoding.EncodeToString(bad))
		if v.Verify(body, header, now) {
			t.Errorf("a signature with another byte %d is accepted", i)
		}
	}
}

func TestDecoySatisfiesNobody(t *testing.T) {
	t.Parallel()
	stranger := Decoy()
	for _, header := range []http.Header{
		{},
		{"Authorization": {"Bearer "}},
		signedHeader("m", "1700000000", signatureBy(t, secretA, "m", "1700000000", nil)),
	} {
		if stranger.Verify(nil, header, time.Unix(1_700_000_000, 0)) {
			t.Errorf("%v is accepted", header)
		}
	}
	one, other := Decoy(), Decoy()
	if slices.Equal(one.keys[0], other.keys[0]) || one.token == other.token || one.public[0].Equal(other.public[0]) {
		t.Error("two decoys share a key")
	}
}

func TestSecretSpellings(t *testing.T) {
	t.Parallel()
	const padded = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBk="
	want, err := base64.StdEncoding.DecodeString(padded)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{secretPrefix + padded, padded, strings.TrimRight(padded, "="), secretPrefix + padded + "\n"} {
		if v, err := New([]string{secret}, ""); err != nil || !slices.Equal(v.keys[0], want) {
			t.Errorf("%q is not read as %x (%v)", secret, want, err)
		}
	}
}

func TestUnusableSecrets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets []string
		token   string
	}{
		"not base64":    {secrets: []string{"whsec_not base64 at all, not at all"}},
		"short key":     {secrets: []string{"whsec_" + base64.StdEncoding.EncodeToString(make([]byte, minKey-1))}},
		"long key":      {secrets: []string{"whsec_" + base64.StdEncoding.EncodeToString(make([]byte, maxKey+1))}},
		"three secrets": {secrets: []string{secretA, secretB, secretA}},
		"short token":   {token: "short"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(test.secrets, test.token)
			if err == nil {
				t.Fatal("it is accepted")
			}
			for _, secret := range append(test.secrets, test.token) {
				if secret != "" && strings.Contains(err.Error(), strings.TrimPrefix(secret, secretPrefix)) {
					t.Errorf("the error repeats a secret: %v", err)
				}
			}
		})
	}
}

func FuzzVerify(f *testing.F) {
	v, err := New([]string{secretA}, longToken)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("m", "1700000000", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "Bearer x", []byte("{}"))
	f.Add("", "", "v1, v1,= v1a,AAAA", "Bearer", []byte(nil))
	f.Fuzz(func(t *testing.T, id, timestamp, signatures, authorization string, body []byte) {
		macs, parsed := parseSignatures(signatures)
		if len(macs) > maxSignatures || len(parsed) > maxAsymmetric {
			t.Errorf("%d and %d signatures are looked at", len(macs), len(parsed))
		}
		for _, mac := range macs {
			if len(mac) != 32 {
				t.Errorf("a signature of %d bytes is looked at", len(mac))
			}
		}
		header := signedHeader(id, timestamp, signatures)
		header.Set("Authorization", authorization)
		if v.Verify(body, header, time.Unix(1_700_000_000, 0)) && !strings.Contains(authorization, longToken) {
			t.Errorf("accepted without the secret: %q %q %q", id, timestamp, signatures)
		}
	})
}
