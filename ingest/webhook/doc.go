// Package webhook knows the sender of an HTTP request by a secret that both have: by a
// signature over the raw body (Standard Webhooks 1.0, HMAC-SHA256 or Ed25519), or by a
// bearer token. Adapters for providers with signatures of their own find here what those
// have in common: keys, shown secrets, and how far a clock may be off.
//
// Guarantees:
//
//   - Comparing takes constant time, and says nothing about how many secrets there are.
//   - A signature holds for five minutes. Two secrets hold at a time, so that one can
//     replace the other.
//   - What one request can make us compute is bounded.
//   - No error repeats a secret, and a refusal does not say what is wrong.
//
// It reads no body and answers nothing.
package webhook
