package supervisor

// A Move is a session's way from one stage to another.
type Move struct{ From, To string }

// Watch has a function told of every move of an owner's sessions.
func (o *Owner) Watch(told func(Move)) {
	o.onStageChange = func(from, to stage) { told(Move{stageNames[from], stageNames[to]}) }
}

var stageNames = [...]string{
	stageWaiting: "waiting", stageQueued: "queued", stageDeciding: "deciding", stageLoading: "loading", stageFetching: "fetching",
	stageConfirming: "confirming", stageStoring: "storing", stageSending: "sending", stageQuarantining: "quarantining", stageRetrying: "retrying",
}
