package sim

import (
	"crypto/sha256"
	"fmt"

	"podium/schemas"
)

// FilesByGrant is the invariant of artifacts: whoever builds on an answer may read
// what its agent has put, and nothing that it only names.
const FilesByGrant = "an agent is granted the files that the run may pass on, and no others"

// named is what the data of an answer says of artifacts.
type named struct {
	Own    *schemas.Artifact `json:"own"`    // that its agent has put
	Stolen *schemas.Artifact `json:"stolen"` // of which it knows the hash, and a grant that is not its own
}

// withFiles has some answers name artifacts. It draws nothing by chance, so that
// seeds stay what they were.
func (pr *pendingRequest) withFiles(data []byte) []byte {
	w := pr.agent.world
	artifact := func(of, putBy string) string {
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(of)))
		return fmt.Sprintf(`{"sha256":%q,"size":1,"grant":%q}`, hash, w.grants.Put(putBy, hash))
	}
	switch w.serial % 5 {
	case 0:
		return fmt.Appendf(data[:len(data)-1], `,"own":%s}`, artifact(fmt.Sprint("file ", w.serial), pr.agent.name))
	case 1:
		return fmt.Appendf(data[:len(data)-1], `,"stolen":%s}`, artifact("a secret", "somebody"))
	}
	return data
}

// readsWhatItMay looks at the grants in a request.
func (pr *pendingRequest) readsWhatItMay() {
	w := pr.agent.world
	for name, input := range pr.task.Context.Inputs {
		var names named
		if schemas.Unmarshal(input.Data, &names) != nil {
			continue // it names nothing
		}
		if own := names.Own; own != nil && !w.grants.MayRead(own.Grant, pr.agent.name, pr.event.ID, own.SHA256, pr.event.Expires) {
			w.violate(FilesByGrant, "request %s: agent %s may not read what %s has put", pr.event.ID, pr.agent.name, name)
		}
		if stolen := names.Stolen; stolen != nil && stolen.Grant != "" {
			w.violate(FilesByGrant, "request %s: agent %s may read what %s only names", pr.event.ID, pr.agent.name, name)
		}
	}
}
