package figures

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Run measures surrogates with the seeds 1 to seeds and calls tell with each record.
// For each surrogate it writes the picture of seed 1 and the records to a directory. New
// records replace earlier records. Finally it writes README.md with all records of the
// directory. A failed fit is a record. The error reports cancellation or a file, or wraps
// catalog.ErrUnknown.
func Run(ctx context.Context, dir string, names []string, seeds int, tell func(Record)) error {
	for _, name := range names {
		if _, err := Stated(name); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	references := make([][]curve, seeds) // indices: seed, prior
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

// measure fits one surrogate for all seeds and priors. It returns the curves of seed
// 1: one for each prior, or a single curve for a surrogate without a kernel. The curve
// of a failed fit is empty.
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
