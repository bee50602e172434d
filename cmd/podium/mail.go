package main

// mailCommand is about mail.
type mailCommand struct {
	Audit mailAuditCommand `cmd:"" help:"Prove that every message of the mailboxes is accounted for."`
	Try   mailTryCommand   `cmd:"" help:"Show what the newest messages of a real mailbox would become; changes nothing."`
	Parse mailParseCommand `cmd:"" help:"Show the events that messages in files would become."`
}

// Help is shown by --help.
func (mailCommand) Help() string {
	return `What the mail door makes of mail.

  podium mail audit                           # is anything missing?
  podium mail try --account support --last 10 # what would become of real mail?
  podium mail parse mail.eml -o json`
}
