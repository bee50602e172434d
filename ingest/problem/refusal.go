package problem

import "net/http"

// The refusals that adapters have in common. What is to be done next is each adapter's to say.

// NoPage is that there is no such page.
func NoPage(detail string) *Document {
	return New(http.StatusNotFound, "no-such-page", "There is nothing here", detail)
}

// UnreadFormat is that nobody reads bodies of that kind.
func UnreadFormat(detail string) *Document {
	return New(http.StatusUnsupportedMediaType, "format", "The body is in a format that is not read here", detail)
}

// LedgerFull is that the ledger takes no more; adapters differ in the status.
func LedgerFull(status int, detail string) *Document {
	return New(status, "ledger-full", "The ledger takes no more", detail).After(RetryFull)
}

// LedgerUnavailable is that the ledger does not answer, so that nobody knows what has become of it.
func LedgerUnavailable(detail string) *Document {
	return New(http.StatusServiceUnavailable, "ledger-unavailable", "The ledger does not answer", detail).After(RetryUnavailable)
}
