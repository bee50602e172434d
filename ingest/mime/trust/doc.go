// Package trust says who wrote a mail and whether to believe it: by the results
// of the receiving server (RFC 8601), by signatures that are verified here
// (RFC 6376), by the signals of bounces, automatic mail and lists (RFC 3834), and
// by what in it looks made to deceive.
//
// Nobody is believed but the server that is named and the signatures that hold.
// An author whom two programs may read differently is never authenticated. The
// only thing it ever asks is the resolver it is given for DKIM keys.
package trust
