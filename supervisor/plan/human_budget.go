package plan

import (
	"podium/schemas"
	"podium/supervisor/budget"
	"podium/supervisor/phrase"
)

// A budgetTask asks people to raise a budget. The rules start the tasks that fit afterwards, or end the run.
type budgetTask struct{ humanTask }

// ReadChoice reads the word that raises or rejects, and the amount. A question raises nothing.
func (b budgetTask) ReadChoice(reply *Word) bool {
	if phrase.Asks(reply.Whole) {
		return false
	}
	choice, amount, decides := budget.Read(reply.Whole, b.asked.Shortage.Offer, b.v.Profile.Languages)
	if decides {
		reply.Choice, reply.Amount = choice, &amount
	}
	return decides
}

// applyReply raises the budget by the amount, or by what was offered if the reply names none. Tasks that wait for the budget of the day look at it anew.
func (b budgetTask) applyReply(reply *Word) events {
	answered, _ := b.newReply(reply)
	if reply.Choice != schemas.ChoiceRaise {
		return b.end(answered)
	}
	if answered.Amount = reply.Amount; reply.Amount == nil || *reply.Amount == (schemas.Usage{}) {
		answered.Amount = &b.asked.Shortage.Offer
	}
	done := b.end(answered)
	if b.asked.Shortage.Day == "" {
		return done
	}
	raised := b.v.after(done)
	for _, id := range heldTasks(raised) {
		if task := raised.Run.Task(id); task.HeldForDay() {
			done = append(done, askForDay(raised, task)...)
		}
	}
	return done
}

func (budgetTask) applyEnd() events { return nil }

func (budgetTask) askAgain() events { return nil } // the rule handle_shortage asks
