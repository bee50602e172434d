package history

import (
	"context"
	"fmt"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
)

// AnswerText assembles the words of a settled run's answer as its delivery has
// them: the parts in order, below what failed, told in the run's language. It is
// empty while the run is not settled, and when the work has no words of its own;
// what its profile says instead then stands in the delivery alone. Parts that are
// too large for a record are read from the ledger, or from the object store when
// the ledger is a Core.
func AnswerText(ctx context.Context, ledger bus.Ledger, run workflow.RunHistory) (string, error) {
	parts := make([]string, len(run.Answer))
	for i := range run.Answer {
		if run.Answer[i].Told != "" {
			parts[i] = run.Answer[i].Told
			continue
		}
		result, err := ResultOf(ctx, ledger, run.Session, run.Answer[i].Body)
		if err != nil {
			return "", fmt.Errorf("answer of run %s: %w", run.ID, err)
		}
		parts[i] = result.Text
	}
	return workflow.AnswerText(parts, run.Error, run.Message.Language, run.Notes, run.Summary), nil
}

// ResultOf returns what a Content of a session stands for, which may be the result of a response: its data, and that part of its text.
func ResultOf(ctx context.Context, ledger bus.Ledger, session string, body schemas.Content) (schemas.Result, error) {
	if body.Sequence == 0 {
		return body.Result, nil
	}
	stream, _ := sessionPlace(ledger, session)
	message, err := ledger.Get(ctx, stream, body.Sequence)
	if err != nil {
		return schemas.Result{}, err
	}
	var response schemas.ExecutionResponse
	content, err := bodyOf(ctx, ledger, message, schemas.TypeExecutionResponse)
	if err == nil {
		response, err = schemas.DecodeExecutionResponse(content)
	}
	if err != nil {
		return schemas.Result{}, fmt.Errorf("message %d of %s: %w", message.Sequence, message.Stream, err)
	}
	if response.Payload.Result == nil {
		return schemas.Result{}, nil
	}
	result := *response.Payload.Result
	if end := body.Offset + body.Size; body.Offset >= 0 && body.Offset <= end && end <= len(result.Text) {
		result.Text = result.Text[body.Offset:end]
	}
	return result, nil
}
