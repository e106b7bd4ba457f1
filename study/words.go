package study

import "strings"

const (
	useBudget    = "use budget"
	useObjective = "use objectives: [{name: …, goal: minimize}]"
	useMethod    = "use surrogate and acquisition"
	later        = "this version does not support it"
)

// otherKeys gives the remedy for keys of other tools and of later versions.
var otherKeys = remedies(map[string]string{
	"n_trials trials num_trials max_trials total_trials n_calls n_iter max_iter iterations max_evals evaluations run_cap": useBudget,
	"direction directions minimize maximize goal mode metric metrics objective objective_name":                            useObjective,
	"method algorithm sampler search_alg optimizer generation_strategy":                                                   useMethod,
	"model kernel":                                                                "use surrogate",
	"acq_func acquisition_function acqf":                                          "use acquisition",
	"program script cmd run executable entry_point":                               "use command",
	"space search_space params hyperparameters parameter_space variables":         "use parameters",
	"n_jobs jobs parallelism parallel max_parallelism concurrency max_concurrent": "use workers",
	"batch_size q": "use batch",
	"n_startup_trials n_initial n_initial_points init_points initialization_budget num_initial": "use initial",
	"random_state random_seed":                            "use seed",
	"study_name experiment_name experiment project title": "use name",
	"noise_free noise":                                    "use noise_free: true, or noise_sd: NUMBER, in an entry of objectives",
	"noise_sd noise_std noise_sigma":                      "use noise_sd: NUMBER in an entry of objectives",
	"standard_error sem yvar":                             "use standard_error: NAME in an entry of objectives, a number that trials report, or noise_sd: NUMBER",
	"storage store":                                       "give the store on the command line with --store",
	"parameter_constraints":                               "use constraints",
	"outcome_constraints metric_constraints":              "use require: [\"NAME <= NUMBER\"]",
	"when condition":                                      "state when in an entry of parameters",
	"prior priors belief beliefs":                         "use optimum, prior_mean or the kernel of surrogate",
	"initial_points points_to_evaluate enqueue start_points x0 warmstart": "use first",
	"history evaluations_before observations data warm_start":             "use earlier",
	"mean mean_function": "use prior_mean",
	"time max_time timeout_total target max_failures cost max_cost regret": "use end: {time: 2h, target: 0.01, cost: \"dollars <= 50\"}",
	"pruner early_terminate early_stopping":                                "use stop",
})

// otherObjectiveKeys gives the remedy for such keys in an entry of objectives.
var otherObjectiveKeys = remedies(map[string]string{
	"direction mode":                                              "use goal: minimize or maximize",
	"minimize maximize":                                           "use goal: minimize or goal: maximize",
	"metric metric_name":                                          "use name",
	"noise noisy deterministic":                                   "use noise_free: true for an objective that gives equal values at equal points, or noise_sd for noise of a known standard deviation",
	"noise_std noise_sigma noise_variance noise_level":            "use noise_sd: the standard deviation of the noise of a value, in its unit",
	"sem yvar standard_deviation":                                 "use noise_sd: NUMBER, or standard_error: NAME, a number that trials report, for a noise that differs between trials",
	"threshold ref reference_point ref_point objective_threshold": "use reference, for several objectives",
	"target weight":                                               later,
})

// otherBeliefKeys gives the remedy for such keys in an entry of optimum.
var otherBeliefKeys = remedies(map[string]string{
	"at value mean centre center": "use around",
	"sd std stddev sigma width":   "use within, or factor for a logarithmic parameter",
	"ratio":                       "use factor",
	"weights probabilities":       "use values: {NAME: PROBABILITY}",
})

// remedies gives the same remedy to each of several keys.
func remedies(by map[string]string) map[string]string {
	all := map[string]string{}
	for words, remedy := range by {
		for word := range strings.FieldsSeq(words) {
			all[word] = remedy
		}
	}
	return all
}
