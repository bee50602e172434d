// Package approval says who has to agree before something is done, to what exactly, and whether they have. It asks nobody, and knows neither time nor
// agents: supervisor/plan does, and goes by what it says.
package approval
