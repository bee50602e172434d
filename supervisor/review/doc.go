// Package review finds out what can be known of the results of a run without asking anybody: which versions of a file stand, which
// of them have to be merged, which promises are not kept, where results contradict each other, and who mends what. It is pure, and
// what it says follows from the order of the tasks alone.
package review
