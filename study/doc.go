// Package study defines the description of a study: the search space, the objectives, the
// program that evaluates a trial, the budget and the method. A Definition has one JSON
// form, version 1, which the study file, the store, exports and services share.
//
//	{"version": 1, "name": "resnet-lr",
//	 "parameters": [{"name": "lr", "type": "float", "min": 1e-5, "max": 0.1, "log": true}],
//	 "objectives": [{"name": "loss", "goal": "minimize"}],
//	 "command": "python train.py --lr {lr}", "budget": 60,
//	 "surrogate": {"name": "gp", "kernel": "matern52"}}
//
// Parse reads it strictly and reports every fault at once; package studyfile reads files.
// Method converts a definition to options of package loop.
package study
