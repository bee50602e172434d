// Package exec makes an agent of any program.
//
// # What the program gets
//
// The program is started for each request, without a shell, in a process group
// of its own. Its standard input is the whole execution_request as JSON. Its
// environment is PATH, HOME, LANG and TMPDIR of the agent's process (on Windows
// also what a program cannot start without), the configured variables, and
// PODIUM_RUN, PODIUM_TASK, PODIUM_ATTEMPT and PODIUM_EFFECT; the last is the
// same for every attempt of one piece of work.
//
// It is started for requests of the kinds that its agent declares, which is work by
// default. An assessment, a plan and a route are asked for by task.context.kind.
//
// A program with side effects outside is started only once that is permitted: a
// request that was cancelled, or that another process has worked on, starts none, and
// neither does a question.
//
// # What it may say on the way
//
// Each line on standard error is progress for a person. "40% text" sets the
// percentage too; a line without one keeps it. Of a line, 1 KiB is kept.
//
// # What its standard output means
//
// Read after exit code 0, the first that applies:
//
//   - Nothing but white space: done, without a result.
//   - A JSON object with "type":"execution_response": the documented response.
//     An in_reply_to must name the request; without one, it answers the request.
//   - A JSON object whose "status" is completed, partial, failed or blocked: the
//     payload of such a response. In both, completed and partial give the
//     payload's result. failed and blocked fail with the description of the
//     first issue; the failure is permanent when blocked, or when an issue's
//     resolution is escalated.
//   - A JSON object of nothing but "text", "data" and "media_type": a result.
//   - Any other JSON object or array: the data of a result without text.
//   - Anything else: the text of a result, without white space at its end.
//
// # How it ends
//
// Another exit code is a failure whose words are the last line on standard
// error. The codes of sysexits(3) say whether another attempt can help. It
// cannot after EX_USAGE (64), EX_DATAERR (65), EX_NOINPUT (66), EX_NOUSER (67),
// EX_NOHOST (68), EX_PROTOCOL (76), EX_NOPERM (77) and EX_CONFIG (78). It can
// after EX_TEMPFAIL (75) and every other code, 1 and 2 included, and when a
// signal ended the program.
//
// Of a program with side effects outside nobody knows what it has done when a
// signal or the agent ended it, or when what it printed cannot be read; an issue of
// its response says so with "effect_unknown":true. Any other failure says that it
// has done nothing. With "category":"resource" an issue says that the program is well
// and has no room for this now, such as within a rate: it is asked again later, and
// its circuit breaker does not count it.
//
// When the request's context or the timeout ends, the whole process group is
// killed. Whatever the program leaves behind in its group is killed when it
// ends. Handle returns only after the program is gone and its pipes are closed.
package exec
