// Package runner measures optimisation methods on suites of problems.
//
// A Suite lists problems, methods and a number of seeds. Its plan has a Run for each
// (seed, problem, method). Execute performs runs in parallel. A Store appends a
// Record of each finished run to a file, a JSON line each, so that an interrupted
// benchmark continues.
//
// All methods start a problem and seed with the same points: the first points of a
// scrambled Sobol sequence, which the method "sobol" continues.
//
// Package report turns records into tables.
package runner
