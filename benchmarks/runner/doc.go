// Package runner measures methods of optimisation on suites of problems.
//
// A Suite is data: problems, methods and a number of seeds. Its plan has a Run
// for each (seed, problem, method); Execute performs runs in parallel, and a
// Store keeps a Record of each, a JSON line that is appended when the run ends,
// so that a killed benchmark goes on where it stopped.
//
// All methods of one (problem, seed) begin with the same points: the first ones
// of a scrambled Sobol sequence, which the method "sobol" goes on with.
//
// Package report turns records into tables and plots.
package runner
