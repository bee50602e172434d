package plan

import (
	"podium/schemas"
	"podium/supervisor/budget"
	"podium/supervisor/phrase"
)

// A budgetTask asks people to raise a budget. Resume starts the tasks that fit afterwards, or ends the run.
type budgetTask struct{ humanTask }

// ReadChoice reads the word that raises or rejects, and the amount. A question raises nothing.
func (b budgetTask) ReadChoice(reply *Word) bool {
	if phrase.Asks(reply.Whole) {
		return false
	}
	choice, amount, decides := budget.Read(reply.Whole, b.asked.Shortage.Offer, b.d.Profile.Languages)
	if decides {
		reply.Choice, reply.Amount = choice, &amount
	}
	return decides
}

// applyReply raises the budget by the amount, or by what was offered if the reply names none.
func (b budgetTask) applyReply(reply *Word) {
	answered, _ := b.newReply(reply)
	if reply.Choice == schemas.ChoiceRaise {
		if answered.Amount = reply.Amount; reply.Amount == nil || *reply.Amount == (schemas.Usage{}) {
			answered.Amount = &b.asked.Shortage.Offer
		}
	}
	b.end(answered)
	d := b.d
	if reply.Choice == schemas.ChoiceRaise && b.asked.Shortage.Day != "" {
		for _, id := range heldTasks(d) {
			if task := d.Run.Task(id); task.HeldForDay() {
				askForDay(d, task)
			}
		}
	}
}

func (budgetTask) applyEnd() {}

func (b budgetTask) askAgain() {} // Resume asks
