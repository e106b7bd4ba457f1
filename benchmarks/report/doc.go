// Package report turns the records of package runner into tables and plots: how
// good the best point was after each part of the budget, how often one method
// beat another on the same seed, and how long suggestions took.
//
// The measure is simple regret, the least value without noise among the points
// evaluated so far less the known minimum, and the least value itself where no
// minimum is known. Regret below Floor counts as Floor where logarithms, wins or
// ranks are concerned: what is left is rounding.
package report
