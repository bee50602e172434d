package mime

import "strings"

// FreemailDomains are those of the lists.
func FreemailDomains() []string { return strings.Fields(freemailDomains + moreFreemail) }
