package verify

import (
	"slices"

	"podium/schemas"
)

// withoutWording returns facts without the sentences of Podium in them, which another build may word otherwise. What people were asked to approve stays.
func withoutWording(facts schemas.Facts) schemas.Facts {
	bare := slices.Clone(facts)
	for i := range bare {
		switch fact := bare[i].(type) {
		case *schemas.InquiryOpened:
			if !fact.Kind.IsApproval() {
				opened := *fact
				opened.Question = ""
				bare[i] = &opened
			}
		case *schemas.RunSettled:
			if fact.Error != nil {
				settled, failure := *fact, *fact.Error
				failure.Message, settled.Error = nil, &failure
				bare[i] = &settled
			}
		default:
		}
	}
	return bare
}

// isReworded reports whether facts of another build differ in the wording of sentences alone.
func (v *verifier) isReworded(epoch uint64, decided, stored schemas.Facts) (bool, error) {
	if build := v.builds[epoch]; build == "" || v.build == "" || build == v.build {
		return false, nil
	}
	return equal(withoutWording(decided), withoutWording(stored))
}
