package sim

import (
	"slices"
	"time"

	"podium/schemas"
)

// An inquiry is what a person is asked, as the records have it.
type inquiry struct {
	task     *task
	number   int
	fact     *schemas.InquiryOpened
	opened   time.Time
	asked    time.Time // when the first notice went out
	open     bool
	cause    *schemas.Cause // of its end
	ended    time.Time
	answered *schemas.InquiryAnswered
	closed   schemas.InquiryReason
}

// expires is when a word on it counts no more; zero while nobody was asked.
func (i *inquiry) expires() time.Time {
	if i.asked.IsZero() {
		return time.Time{}
	}
	return i.asked.Add(time.Duration(i.fact.Expire))
}

func (r *run) inquiry(number int) *inquiry {
	if number < 1 || number > len(r.inquiries) {
		return nil
	}
	return r.inquiries[number-1]
}

// openInquiry returns the oldest that is open, or nil.
func (r *run) openInquiry() *inquiry {
	for _, i := range r.inquiries {
		if i.open {
			return i
		}
	}
	return nil
}

// awaits reports whether a person is asked for something that a task lacks.
func (r *run) awaits(t *task) bool {
	return slices.ContainsFunc(r.inquiries, func(i *inquiry) bool { return i.open && i.task == t })
}

func (r *run) answersTo(t *task) []*inquiry {
	var answered []*inquiry
	for _, i := range r.inquiries {
		if i.task == t && i.answered != nil {
			answered = append(answered, i)
		}
	}
	return answered
}

// notice returns the number of the inquiry that a task tells a person of; 0 is none.
func (t *task) notice() int {
	if t == nil || t.planned != nil {
		return 0
	}
	return schemas.NoticeOf(t.id)
}

// noticed notes that a notice goes out.
func (m *moment) noticed(t *task) {
	if i := m.run.inquiry(t.notice()); i != nil && i.asked.IsZero() {
		i.asked = m.cause.Time
	}
}

// opens lets a task wait for a person: an attempt that has led to that is over.
func (o *oracle) opens(m *moment, f *schemas.InquiryOpened) {
	i := &inquiry{task: m.task, number: f.Inquiry, fact: f, opened: m.cause.Time, open: true}
	if m.run.openInquiry() == nil {
		m.run.resting = m.cause.Time
	}
	m.run.inquiries, o.asked = append(m.run.inquiries, i), append(o.asked, i)
	if m.task == nil {
		return
	}
	o.endTask(m, m.task, taskAsked)
	if f.Attempt > 0 {
		m.task.permit = nil
		m.task.inquired++
	}
}

// ends ends an inquiry: a task that was told something may begin.
func (o *oracle) ends(m *moment, number int, end func(*inquiry)) {
	i := m.run.inquiry(number)
	if i == nil || !i.open {
		return // see inquiriesEndForAReason
	}
	i.open, i.cause, i.ended = false, m.cause, m.cause.Time
	end(i)
	if t := i.task; i.answered != nil && t != nil && t.state == taskAsked {
		t.state, t.ready, t.until, t.begun = taskReady, m.at, time.Time{}, m.cause.Time
		m.enlist(t)
	}
}

// goesOn has the run end by itself at another time, once no inquiry is open.
func (r *run) goesOn(expires time.Time) {
	if r.openInquiry() == nil {
		r.resting = time.Time{}
	}
	if !expires.IsZero() {
		r.expires = expires
	}
}
