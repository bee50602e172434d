package verify

import (
	"slices"

	"podium/schemas"
)

// withoutWording returns facts without the message of an error, which another build may word differently. Whether
// people were told anything stays, in which language, and a message that an agent has written.
func withoutWording(facts schemas.Facts) schemas.Facts {
	bare := slices.Clone(facts)
	for i := range bare {
		settled := schemas.As[*schemas.RunSettled](bare[i])
		if settled == nil || settled.Error == nil || slices.ContainsFunc(settled.Error.Reasons, isOfAgent) {
			continue
		}
		reworded, failure := *settled, *settled.Error
		failure.Message = map[string]string{}
		for language, message := range settled.Error.Message {
			if failure.Message[language] = message; message != "" {
				failure.Message[language] = "…"
			}
		}
		reworded.Error = &failure
		bare[i] = &reworded
	}
	return bare
}

func isOfAgent(why schemas.Reason) bool { return why.Code == schemas.RunWithoutAnswer }

// isReworded reports whether facts of another build differ in the wording of messages alone.
func (v *verifier) isReworded(epoch uint64, decided, stored schemas.Facts) (bool, error) {
	if build := v.builds[epoch]; build == "" || v.build == "" || build == v.build {
		return false, nil
	}
	return equal(withoutWording(decided), withoutWording(stored))
}
