package figures

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Run measures the named surrogates with the seeds 1 to seeds, tells each record,
// and writes for each surrogate its picture of seed 1 and its records, which take
// the place of earlier ones, to a directory, and at the end a README.md of all
// records there. A fit that fails is a record; the error is that of ctx, of files,
// or wraps catalog.ErrUnknown.
func Run(ctx context.Context, dir string, names []string, seeds int, tell func(Record)) error {
	for _, name := range names {
		if _, err := Stated(name); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	references := make([][]curve, seeds) // by seed, then prior
	for s := range references {
		for _, p := range Priors() {
			c, err := exact(p, uint64(s+1))
			if err != nil {
				return err
			}
			references[s] = append(references[s], c)
		}
	}
	_, commit := runner.Version()
	for _, name := range names {
		records, shown, err := measure(ctx, name, references, tell)
		if err != nil {
			return err
		}
		for i := range records {
			records[i].Commit, records[i].Date = commit, time.Now().UTC().Format(time.DateOnly)
		}
		if err := replace(dir, name, records); err != nil {
			return err
		}
		if err := save(filepath.Join(dir, name+".png"), name, references[0], shown); err != nil {
			return err
		}
	}
	return WriteReadme(dir)
}

// measure fits one surrogate for all seeds and priors. It returns the curves of
// seed 1: one for each prior, or one for all where the surrogate takes none, empty
// where the fit failed.
func measure(ctx context.Context, name string, references [][]curve, tell func(Record)) (records []Record, shown []curve, err error) {
	stated, err := Stated(name)
	if err != nil {
		return nil, nil, err
	}
	for s, exact := range references {
		seed := uint64(s + 1)
		var c curve
		var seconds float64
		var failure error
		for k, p := range Priors() {
			if k == 0 || stated {
				if c, seconds, failure = fit(ctx, name, p, seed); ctx.Err() != nil {
					return nil, nil, ctx.Err()
				}
				if s == 0 {
					shown = append(shown, c)
				}
			}
			r := Record{Surrogate: name, Prior: p.Name, Seed: seed, Seconds: seconds}
			if failure != nil {
				r.Error = fmt.Sprint(failure)
			} else {
				r.Distance = distance(c, exact[k])
			}
			records = append(records, r)
			tell(r)
		}
	}
	return records, shown, nil
}
