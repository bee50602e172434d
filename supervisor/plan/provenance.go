package plan

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/reference"
	"podium/schemas/workflow"
	"podium/supervisor/review"
)

// A provenance decides which of the artifacts that an answer names may be passed on:
// what its agent has put itself, what it was granted, and the files of the message.
type provenance struct {
	view  *View
	task  *workflow.Task
	put   []string            // by the agent
	given map[string]struct{} // put and granted; nil before anybody has asked
}

// holds reports whether the agent has put an artifact, or was granted it.
func (p *provenance) holds(hash string) bool {
	if p.given == nil {
		p.given = map[string]struct{}{}
		for _, hashes := range [...][]string{p.put, p.view.Run.Granted(p.task), deliveredTo(p.view, p.task)} {
			for _, given := range hashes {
				p.given[given] = struct{}{}
			}
		}
	}
	_, holds := p.given[hash]
	return holds
}

// answer notes what may be passed on. What may not stays a word in the agent's
// result; a deliverable is kept without it.
func (p *provenance) answer(answer *Response, completed *schemas.TaskCompleted) {
	p.result(answer.WholeResult, completed)
	completed.Deliverables = answer.Deliverables
	copied := false
	for i := range answer.Deliverables {
		file, names := DeliverableFile(&answer.Deliverables[i])
		if !names || p.holds(file.Artifact.SHA256) || sentWithRequest(p.view, file.Artifact.SHA256) {
			continue
		}
		leaveOut(completed, &file)
		if !copied {
			completed.Deliverables, copied = slices.Clone(completed.Deliverables), true
		}
		completed.Deliverables[i].Metadata = withoutFile(completed.Deliverables[i].Metadata)
	}
}

// result is answer for a result alone.
func (p *provenance) result(result schemas.Result, completed *schemas.TaskCompleted) {
	references := reference.Hashes(result.Data)
	if len(references) == 0 {
		return
	}
	for _, hash := range references {
		if p.holds(hash) {
			prove(completed, hash)
		}
	}
	for _, file := range AttachmentsIn(result) {
		switch hash := file.Artifact.SHA256; {
		case !schemas.ValidHash(hash) || slices.Contains(completed.Proven, hash):
		case !sentWithRequest(p.view, hash) || !prove(completed, hash):
			leaveOut(completed, &file)
		}
	}
}

// prove reports whether there is room for one more proven artifact.
func prove(completed *schemas.TaskCompleted, hash string) bool {
	if slices.Contains(completed.Proven, hash) {
		return true
	}
	if len(completed.Proven) == schemas.MaxProven {
		return false
	}
	completed.Proven = append(completed.Proven, hash)
	return true
}

func leaveOut(completed *schemas.TaskCompleted, file *schemas.Attachment) {
	if name := fileName(file); len(completed.Unproven) < maxUnproven && !slices.Contains(completed.Unproven, name) {
		completed.Unproven = append(completed.Unproven, name)
	}
}

// sentWithRequest reports whether a person has sent a file with the words of the run. The
// messages are read once in a turn.
func sentWithRequest(v *View, hash string) bool {
	known := v.known()
	if known.files == nil {
		known.files = map[string]struct{}{}
		for _, sequence := range slices.Concat(messagesWithFiles(v), v.Earlier) {
			for _, file := range AttachmentsIn(v.Read(schemas.Content{Sequence: sequence})) {
				known.files[file.Artifact.SHA256] = struct{}{}
			}
		}
	}
	_, came := known.files[hash]
	return came
}

// messagesWithFiles are the inputs of the run's messages, if a person has sent these.
func messagesWithFiles(v *View) []uint64 {
	message := &v.Run.Message
	if message.Upstream != nil {
		return nil
	}
	var sequences []uint64
	if message.Files > 0 {
		sequences = append(sequences, message.Sequence)
		for i := range message.MergedTexts {
			sequences = append(sequences, message.MergedTexts[i].Sequence)
		}
	}
	for _, inquiry := range v.Run.Inquiries {
		if answered := inquiry.Answered; answered != nil && answered.Files > 0 && inquiry.Kind.IsInput() {
			sequences = append(sequences, answered.Sequence)
		}
	}
	return sequences
}

// deliveredTo are the files of deliverables that the request for a task lists.
func deliveredTo(v *View, task *workflow.Task) []string {
	var hashes []string
	for i := range v.Run.Merged {
		if file, is := DeliverableFile(&v.Run.Merged[i].Deliverable); is && review.IsFix(task) {
			hashes = append(hashes, file.Artifact.SHA256)
		}
	}
	for _, id := range task.Dependencies() {
		if dependency := v.Run.Standing(id); dependency != nil {
			for i := range dependency.Deliverables {
				if file, is := DeliverableFile(&dependency.Deliverables[i]); is {
					hashes = append(hashes, file.Artifact.SHA256)
				}
			}
		}
	}
	return hashes
}

// AttachmentsIn is workflow.AttachmentsIn.
func AttachmentsIn(result schemas.Result) []schemas.Attachment { return workflow.AttachmentsIn(result) }

// DeliverableFile is workflow.DeliverableFile.
func DeliverableFile(made *schemas.Deliverable) (schemas.Attachment, bool) {
	return workflow.DeliverableFile(made)
}

// withoutFile returns metadata that names no artifact.
func withoutFile(metadata jsontext.Value) jsontext.Value {
	var members map[string]jsontext.Value
	if schemas.Unmarshal(metadata, &members) != nil {
		return nil
	}
	delete(members, "sha256")
	body, err := schemas.Marshal(members)
	if err != nil || len(members) == 0 {
		return nil
	}
	return body
}

// fileName is what a file that is left out is called.
func fileName(file *schemas.Attachment) string {
	if file.Name == "" {
		return truncate(file.Artifact.SHA256, 8)
	}
	return truncate(file.Name, maxName)
}

// maxName bounds the name of a file in records, in bytes.
const maxName = 256

// maxUnproven bounds the artifacts of an answer that its record names as left out.
const maxUnproven = 32
