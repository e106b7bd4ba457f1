// Package loop runs a Bayesian optimisation: a Study asks for configurations to
// evaluate, is told their values, and chooses the next ones by a surrogate and
// an acquisition function.
//
// Minimize is the one-call form. Study.Run evaluates a Go function with several
// workers; Study.Ask and Study.Tell leave the evaluation to the caller.
//
// A study minimises. Options.Maximize flips the sign of every value once, where
// it is told and where it is reported.
//
// # What a suggestion depends on
//
// The surrogate sees inputs in the unit cube and the values of all finished
// trials in the order of their IDs: very bad ones lowered to Tukey's fence (see
// docs/adr/0009), then either as they are or, if no prior is stated and the likelihood
// prefers it, as log(1 + d/m), d the distance to the best value and m the median
// distance (docs/adr/0015), and standardised to mean 0 and standard deviation 1. A
// failed trial enters with the worst of them. All random numbers come from streams of
// (Options.Seed, purpose, trial ID). So a suggestion is a function of the options, of
// the trials and of what a warm start carries over from the fit before; all three are
// in the saved state. Timing, the number of workers and GOMAXPROCS do not enter.
//
// # Phases
//
// Ask gives, in this order: trials interrupted before they were told; points
// from Enqueue; the initial design, while there are fewer than Options.Initial
// trials or none has a value; then points chosen by the acquisition function.
package loop
