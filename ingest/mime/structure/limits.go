package structure

// Limits bounds what one mail may cost. What is beyond a limit stays in the raw
// mail and is named in Problems.
type Limits struct {
	Message    int64 // bytes; of a larger mail only the beginning is read
	Header     int   // bytes of one header block
	Depth      int   // multiparts inside each other
	Parts      int   // parts of the whole mail
	Addresses  int   // of all address fields together
	References int   // ids kept: the oldest and the newest ones
	Text       int   // bytes of the new text, and as many of the quoted text
	Hidden     int   // bytes of hidden text
	Name       int   // bytes of an attachment's name
}

// DefaultLimits are the limits in production.
func DefaultLimits() Limits {
	return Limits{
		Message: 50 << 20, Header: 1 << 20, Depth: 32, Parts: 1000, Addresses: 1000, References: 100,
		Text: 256 << 10, Hidden: 16 << 10, Name: 255,
	}
}
