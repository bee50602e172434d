package llm

import "podium/schemas"

// A Role is what a model is asked for.
type Role string

// The roles.
const (
	RoleRouter     Role = "router"     // who does a task
	RolePlanner    Role = "planner"    // which tasks there are
	RoleSteps      Role = "steps"      // which steps there are, as sentences in their order
	RoleJudge      Role = "judge"      // how a run goes on
	RoleCritic     Role = "critic"     // what is wrong with what a run has made
	RoleResponder  Role = "responder"  // words for the person
	RoleExtractor  Role = "extractor"  // arguments out of words
	RoleSummarizer Role = "summarizer" // what came of other tasks, in short
	RoleWorker     Role = "worker"     // a task
)

// Roles lists all.
func Roles() []Role {
	return []Role{RoleRouter, RolePlanner, RoleSteps, RoleJudge, RoleCritic, RoleResponder, RoleExtractor, RoleSummarizer, RoleWorker}
}

// Kind is the kind of request that a model in the role answers.
func (r Role) Kind() schemas.RequestKind {
	switch r {
	case RoleRouter:
		return schemas.KindRoute
	case RolePlanner, RoleSteps:
		return schemas.KindPlan
	case RoleJudge, RoleCritic:
		return schemas.KindJudge
	case RoleExtractor:
		return schemas.KindExtract
	case RoleResponder, RoleSummarizer, RoleWorker:
	}
	return schemas.KindWork
}

// decides reports whether the answer is for Podium, and not for a person (O-33).
func (r Role) decides() bool { return r.Kind() != schemas.KindWork }

// Streams reports whether answers come as a stream: words do unless a schema is asked for (O-33).
func (r Role) Streams() bool { return !r.decides() }

// temperature is the default: none for what is decided, some for words (O-33).
func (r Role) temperature() float64 {
	if r.decides() {
		return 0
	}
	return 0.7
}
