// Package loop runs a Bayesian optimisation.
//
//	s, err := space.New(space.LogFloat("rate", 1e-5, 1), space.Int("layers", 1, 8))
//	f := func(ctx context.Context, p space.Point) (float64, error) {
//		return train(ctx, p.Float("rate"), p.Int("layers"))
//	}
//	result, err := loop.Minimize(ctx, f, s, loop.Options{Budget: 50, Workers: 4})
//	best := result.Recommendation.Model.Trial.Point
//
// If the values come from elsewhere, call Ask and Tell of a Study:
//
//	study, err := loop.New(s, loop.Options{})
//	trials, err := study.Ask(ctx, 1)
//	err = study.Tell(trials[0].ID, value)
//
// Propose is the core: a pure function from a search space, options and the trials
// so far to the points to evaluate next. Recommend is a pure function from the same
// arguments to the trials to choose. Programs with their own storage call these two.
//
// A Study is Propose and Recommend with records in memory. Study.Run evaluates a Go
// function with several workers; Study.Ask and Study.Tell leave the evaluation to the
// caller. Minimize is New and Run in one call.
//
// Values are minimised. With Options.Maximize the sign of every value is flipped
// before a fit and in results.
//
// # Inputs of a suggestion
//
// The inputs of the surrogate model are points in the unit cube. Its targets are the values of all finished
// trials in ascending order of ID, in three steps. First, values above Tukey's fence are lowered to it, or to
// the fence of the feasible trials if that is larger. The fence is the third quartile plus 1.5 times the
// interquartile range. Second, values are log transformed, depending on Options.Warp. Third, they are
// standardised to mean 0 and standard deviation 1. Failed trials have a model of their own, and so has each
// number of Options.Require, whose targets are log transformed and standardised alike. Several objectives have
// a model each. The fence applies for every Options.Warp, and for stated priors.
//
// Every second suggestion comes from a local model (LocalAuto). Its data are the trials
// in a trust region, which is a function of the trials, and its three steps use these alone.
//
// Random numbers come from streams of (Options.Seed, purpose, trial ID). So a
// suggestion is a function of the options, the trials and the warm start from the
// previous fit. A saved study contains all three. GOMAXPROCS has no effect. Timing and
// the number of workers have none with Options.Batch or one worker; else they decide
// which trials are pending for a suggestion, and Trial.Pending records them.
//
// # Phases
//
// Ask returns, in this order: interrupted trials; points of Options.First that have no trial; points
// from Enqueue; points of the initial design, while there are fewer than Options.Initial trials or none
// has a value; points chosen by the acquisition function.
package loop
