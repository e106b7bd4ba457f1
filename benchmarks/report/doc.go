// Package report turns the records of package runner into tables: the quality of the
// best point after parts of the budget, comparisons of methods on the same seeds, and
// the time of suggestions.
//
// The measure is simple regret: the lowest noise-free value of the evaluated points
// minus the minimum. If the minimum is unknown, the measure is the lowest value. In
// logarithms, wins and ranks, regret below Floor counts as Floor, because smaller
// values are rounding errors.
package report
