package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/surrogate"
)

// maxJoint is the number of rows up to which their joint covariance is made:
// half a gigabyte.
const maxJoint = 8000

type predictCmd struct {
	modelFlags
	At      string `group:"data" placeholder:"FILE" help:"CSV file of the points to predict at. It has the input columns of --train; other columns are ignored."`
	Samples int    `group:"result" min:"0" max:"100000" default:"0" placeholder:"N" help:"Add the columns s1 to sN: joint posterior samples of the function at all rows. At most 100000."`
	Cov     string `group:"result" placeholder:"FILE" help:"Write the joint posterior covariance of the function at all rows, as CSV without a header."`
	Pipe    bool   `group:"result" help:"Answer requests of JSON on standard input, without files, until the input ends: fit, predict, sample and drop (see the guide)."`
	tablePlotFlags
}

func (predictCmd) Help() string {
	return `Prints one CSV row for each row of --at, with semicolons and decimal commas if --at has them: the posterior mean (mean) and standard deviation (sd) of the function, and the standard deviation of the observation noise (noise_sd).

With --likelihood bernoulli or categorical the target is a label. The output has one column p_LABEL for each label, its probability, and a column label, the most probable label.

Examples:

    bo predict --train runs.csv --at grid.csv > curve.csv
    bo predict --train runs.csv --at grid.csv --plot curve.svg > curve.csv
    bo predict --train runs.csv --at grid.csv --set kernel=rbf --set lengthscale=0.2
    bo predict --train runs.csv --at grid.csv --surrogate fsp-laplace --samples 20
    bo predict --train runs.csv --at grid.csv --target feasible --likelihood categorical`
}

func (c predictCmd) Run(e *env) error {
	if c.Pipe {
		return servePipe(e, func(ctx context.Context, r io.Reader) error { return servePredictions(ctx, r, e.stdout) })
	}
	if err := required("--train", c.Train, "--at", c.At); err != nil {
		return err
	}
	if err := c.tablePlotFlags.check(); err != nil {
		return err
	}
	return heed(e.ctx, func() error { return c.run(e) })
}

func (c predictCmd) run(e *env) error {
	if c.Likelihood != gaussian {
		return c.classes(e)
	}
	var known []float64 // targets at the points, if the table has them
	var points *mat.Dense
	var dialect table.Dialect
	f, err := c.fit(e, c.At, func(features []string, target string) (*mat.Dense, error) {
		at, err := openTable(c.At, e.stdin)
		if err != nil {
			return nil, err
		}
		if c.Plot != "" && slices.Contains(at.Header, target) {
			if known, err = targets(at, target); err != nil {
				return nil, err
			}
		}
		dialect = at.Dialect
		points, err = at.Numbers(features...)
		return points, err
	})
	if err != nil {
		return err
	}
	mean, sd, noise, err := f.moments()
	if err != nil {
		return err
	}
	if c.Plot != "" {
		if err := c.draw(e, f, known, points, mean, sd, noise); err != nil {
			return err
		}
	}
	var draws [][]float64
	if c.Samples > 0 || c.Cov != "" {
		n := len(mean)
		if n > maxJoint {
			return fmt.Errorf("%s: %d rows, --samples and --cov take at most %d", c.At, n, maxJoint)
		}
		joint, cov := make([]float64, n), mat.NewSymDense(n, nil)
		surrogate.Averaged(f.posterior).Joint(joint, cov, f.inputs)
		if c.Samples > 0 {
			if draws, err = jointDraws(joint, cov, f.output, c.Samples, c.Seed); err != nil {
				return err
			}
		}
		if c.Cov != "" {
			cov.ScaleSym(f.output.SD*f.output.SD, cov)
			if err := writeFile(c.Cov, func(w io.Writer) error { return writeMatrix(w, cov) }); err != nil {
				return err
			}
		}
	}
	return table.Write(e.stdout, dialect, func(w *csv.Writer) error {
		record := []string{"mean", "sd", "noise_sd"}
		for k := range draws {
			record = append(record, fmt.Sprintf("s%d", k+1))
		}
		if err := w.Write(record); err != nil {
			return err
		}
		for i := range mean {
			record = append(record[:0], dialect.Number(mean[i]), dialect.Number(sd[i]), dialect.Number(noise))
			for _, s := range draws {
				record = append(record, dialect.Number(s[i]))
			}
			if err := w.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
}

// draw draws the predictions, against the targets if they are known.
func (c predictCmd) draw(e *env, f *fitted, known []float64, at *mat.Dense, mean, sd []float64, noise float64) error {
	if known == nil {
		return c.predicted(e, f.training, f.targets, at, mean, sd)
	}
	total := make([]float64, len(sd))
	for i := range sd {
		total[i] = max(1e-6*f.output.SD, math.Hypot(sd[i], noise))
	}
	return c.compared(e, c.At, f.training.target, known, mean, total)
}

// maxDrawn bounds the numbers of joint draws: a gigabyte.
const maxDrawn = 1 << 27

// jointDraws returns n draws of N(mean, cov) in the units of the target, the k-th of a stream of its own.
func jointDraws(mean []float64, cov *mat.SymDense, output surrogate.Standardization, n int, seed uint64) ([][]float64, error) {
	if most := maxDrawn / max(1, len(mean)); n > most {
		return nil, usagef("%d samples of %d rows take too much memory, want at most %d", n, len(mean), most)
	}
	root, err := linalg.Factorize(cov)
	if err != nil {
		return nil, err
	}
	draws := make([][]float64, n)
	for k := range draws {
		rng := random.New(seed, "sample", k)
		s := make([]float64, len(mean))
		for i := range s {
			s[i] = rng.NormFloat64()
		}
		root.MulLowerVec(s)
		for i := range s {
			s[i] = output.Invert(s[i] + mean[i])
		}
		draws[k] = s
	}
	return draws, nil
}

func writeMatrix(w io.Writer, a *mat.SymDense) error {
	b := bufio.NewWriter(w)
	n := a.SymmetricDim()
	for i := range n {
		for j := range n {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(number(a.At(i, j)))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// number writes x in the shortest form that reads back exactly.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
