package main

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

type scoreCmd struct {
	modelFlags
	Test string `group:"data" required:"" placeholder:"FILE" help:"CSV file with the same input columns and the target."`
	JSON bool   `group:"result" name:"json" help:"Print one JSON object."`
}

func (scoreCmd) Help() string {
	return `Prints the root mean squared error of the means (rmse), the mean negative logarithm of the density that the model gave to each target, in nats (nlpd; lower is better), and the share of targets inside the central 50, 90 and 95 % intervals. Density and intervals are those of an observation, noise included.

Examples:

    bo score --train train.csv --test test.csv
    bo score --train train.csv --test test.csv --surrogate fsp-laplace --json`
}

// A score judges predictions of observations.
type score struct {
	Surrogate string             `json:"surrogate"`
	Train     int                `json:"train"`
	Test      int                `group:"data" json:"test"`
	RMSE      float64            `json:"rmse"`
	NLPD      float64            `json:"nlpd"`
	Coverage  map[string]float64 `json:"coverage"`
	Seconds   float64            `json:"seconds"`
}

func (c scoreCmd) Run(e *env) error {
	var y []float64
	f, err := c.fit(e, func(features []string, target string) (*mat.Dense, error) {
		test, err := openTable(c.Test, e.stdin)
		if err != nil {
			return nil, err
		}
		if y, err = test.targets(target); err != nil {
			return nil, err
		}
		return test.numbers(features)
	})
	if err != nil {
		return err
	}
	started := time.Now()
	mean, variance, noise := f.moments()
	// An exact model of exact data has no density: the floor keeps it finite.
	floor := 1e-12 * f.output.SD * f.output.SD
	for i := range variance {
		variance[i] = max(floor, variance[i]+noise)
	}
	s := judge(y, mean, variance)
	s.Surrogate, s.Train, s.Seconds = c.Surrogate, f.trained, f.seconds+time.Since(started).Seconds()
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

// judge compares targets with Gaussian predictions.
func judge(y, mean, variance []float64) score {
	s := score{Test: len(y), Coverage: map[string]float64{}}
	n := float64(len(y))
	scaled := make([]float64, len(y))
	var big float64
	for i := range y {
		big = max(big, math.Abs(y[i]-mean[i]))
	}
	for i := range y {
		e := y[i] - mean[i]
		if big > 0 {
			s.RMSE += (e / big) * (e / big)
		}
		scaled[i] = math.Abs(e) / math.Sqrt(variance[i])
		s.NLPD += (math.Log(2*math.Pi*variance[i]) + scaled[i]*scaled[i]) / 2
	}
	s.RMSE = big * math.Sqrt(s.RMSE/n)
	s.NLPD /= n
	for _, p := range []int{50, 90, 95} {
		reach := distuv.UnitNormal.Quantile(0.5 + float64(p)/200)
		inside := 0
		for _, z := range scaled {
			if z <= reach {
				inside++
			}
		}
		s.Coverage[fmt.Sprint(p)] = float64(inside) / n
	}
	return s
}
