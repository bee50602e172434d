// Package exec makes an agent of any program.
//
// # What the program gets
//
// The program is started for each request, without a shell, in a process group
// of its own. Its standard input is the whole execution_request as JSON. Its
// environment is PATH, HOME, LANG and TMPDIR of the agent's process (on Windows
// also what a program cannot start without), the configured variables, and
// PODIUM_RUN, PODIUM_TASK, PODIUM_ATTEMPT, PODIUM_KIND, PODIUM_LANGUAGE, and
// PODIUM_EFFECT, which is the same for every attempt of one piece of work.
//
// PODIUM_DIR is a folder of this request alone, which nobody else may read and
// which is gone when it has ended: request.json, words.txt, arguments.json, the
// files of the request in in/, and out/ for those that the program makes. The names
// in in/ are ours; in/index.json has those outside. What is too large or cannot
// be had stands in the index with the reason.
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
// Read after exit code 0, as agent.ReadOutcome has it: words, data, a result, or a
// whole response of which nothing is dropped. Nothing, what is no UTF-8, and what begins as JSON and does not parse is
// a failure; files alone are an answer. Regular files that it has left in out/
// become deliverables, up to 64 and MaxFiles bytes; what else is there is left out, and
// an issue says so.
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
// When the request's context or the timeout ends, the whole process group is told to
// end, and killed half a second later. Whatever the program leaves behind in its group is killed when it
// ends. On Linux the program is told to end, too, when the process that serves the agent is killed. Handle returns only after the program is gone and its pipes are closed.
package exec
