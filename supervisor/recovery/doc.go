// Package recovery says what is done about a failure once attempts and fallback are used up, who is asked about it, and what their words choose. It
// says as well what a run has to do that is begun in the place of one that has ended. It asks nobody, and knows neither time nor agents: supervisor/plan does, and goes by what it says.
package recovery
