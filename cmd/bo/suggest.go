package main

import (
	"context"
	"io"

	"github.com/functionspace/bo/study"
)

// suggestCmd answers requests of one JSON document each.
type suggestCmd struct {
	Pipe bool `help:"End as soon as the input ends, also during a fit: for a program that keeps the command open by a pipe."`
}

func (suggestCmd) Help() string {
	return `Reads one JSON document per request from standard input and prints one line of JSON per answer, until the input ends. A document has "study" (as in the study file), "trials" (each with "params" and "value", or "state": "failed" or "pending"), "n", and optionally "queue" (points to suggest first) and the "warm" of an earlier answer. An answer has "points", or "error" and its "kind".

A document without "study" continues the previous answered one: its trials are added, or replace the trials of the same number ("trial"), and "warm" is the warm start of the previous answer. "action": "check" validates the document, "recommend" names the best trials, or with "given" the settings with the best prediction for the given values, and "pareto" the Pareto front of several objectives. "action": "report" records steps of a pending trial, {"trial": 3, "steps": [{"step": 1, "value": 0.4}]} in "report", and answers with the "decision" of the rule in "stop". "action": "complete" answers the points of "queue", with random values for parameters that are left out.

Example:

    echo '{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}]},
           "trials": [{"params": {"x": 0.2}, "value": 1.5}], "n": 1}' | bo suggest`
}

func (c suggestCmd) Run(e *env) error {
	serve := func(ctx context.Context, r io.Reader) error {
		return asUsage(study.ServeSuggest(ctx, r, e.stdout), study.ErrRequest)
	}
	if c.Pipe {
		return servePipe(e, serve)
	}
	return heed(e.ctx, func() error { return serve(e.ctx, e.stdin) })
}
