package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/score"
)

type scoreCmd struct {
	modelFlags
	Test string `group:"data" placeholder:"FILE" help:"CSV file of the held-out data. It has the input columns and the target of --train."`
	JSON bool   `group:"result" name:"json" help:"Print the result as one JSON object."`
	tablePlotFlags
}

func (scoreCmd) Help() string {
	return `Prints the scores of the predictions for held-out targets: the root mean squared error of the mean (rmse), the mean negative log predictive density in nats (nlpd; lower is better), and the coverage of the central 50, 90 and 95 % intervals. Density and intervals include the observation noise.

With --likelihood bernoulli or categorical the target is a label. The scores are the share of labels that had the largest probability (accuracy), the mean log probability of the labels (logp; higher is better), the mean squared distance between the probabilities and the label (brier, 0 to 2), and the expected calibration error over 15 bins (ece).

Examples:

    bo score --train train.csv --test test.csv
    bo score --train train.csv --test test.csv --surrogate fsp-laplace --json
    bo score --train train.csv --test test.csv --plot scores.svg
    bo score --train train.csv --test test.csv --likelihood categorical`
}

// gaussianScore is the output of bo score for numbers.
type gaussianScore struct {
	Surrogate string             `json:"surrogate"`
	Train     int                `json:"train"`
	Test      int                `json:"test"`
	RMSE      float64            `json:"rmse"`
	NLPD      float64            `json:"nlpd"`
	Coverage  map[string]float64 `json:"coverage"`
	Seconds   float64            `json:"seconds"`
}

func (c scoreCmd) Run(e *env) error {
	if err := required("--train", c.Train, "--test", c.Test); err != nil {
		return err
	}
	if err := c.tablePlotFlags.check(); err != nil {
		return err
	}
	return heed(e.ctx, func() error { return c.run(e) })
}

func (c scoreCmd) run(e *env) error {
	if c.Likelihood != gaussian {
		return c.classes(e)
	}
	var y, errors []float64
	var name string
	f, err := c.fit(e, c.Test, func(features []string, target string) (*mat.Dense, error) {
		test, err := openTable(c.Test, e.stdin)
		if err != nil {
			return nil, err
		}
		name = target
		if y, err = targets(test, target); err != nil {
			return nil, err
		}
		if c.StandardError != "" && slices.Contains(test.Header, c.StandardError) {
			if errors, err = standardErrors(test, c.StandardError); err != nil {
				return nil, err
			}
		}
		return test.Numbers(features...)
	})
	if err != nil {
		return err
	}
	started := time.Now()
	mean, sd, noise, err := f.moments()
	if err != nil {
		return err
	}
	// An exact model of exact data has no density: the floor keeps it finite.
	for i := range sd {
		own := noise
		if errors != nil && !math.IsNaN(errors[i]) {
			own = errors[i]
		}
		sd[i] = max(1e-6*f.output.SD, math.Hypot(sd[i], own))
	}
	if c.Plot != "" {
		if err := c.compared(e, c.Test, name, y, mean, sd); err != nil {
			return err
		}
	}
	g := score.Observations(y, mean, sd)
	s := gaussianScore{
		Surrogate: c.Surrogate, Train: f.trained, Test: len(y), RMSE: g.RMSE, NLPD: -g.LogDensity, Coverage: g.Coverage,
		Seconds: f.seconds + time.Since(started).Seconds(),
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(s)
	}
	_, err = fmt.Fprintf(e.stdout, `rows       %d to train, %d to test
rmse       %.6g
nlpd       %.6g
coverage   %.1f %% in the 50 %% interval, %.1f %% in 90 %%, %.1f %% in 95 %%
seconds    %.3g
`, s.Train, s.Test, s.RMSE, s.NLPD, 100*s.Coverage["50"], 100*s.Coverage["90"], 100*s.Coverage["95"], s.Seconds)
	return err
}
