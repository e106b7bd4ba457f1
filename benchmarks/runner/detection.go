package runner

import (
	"context"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// song is the folder of the table whose inputs the papers use as inputs from another
// distribution, YearPredictionMSD of the UCI repository.
const song = "song"

// standIns are the tables whose inputs, side by side, replace the inputs of song.
var standIns = []string{"protein", "power", "boston"}

// detectionSuites tell test inputs from inputs of another table by the posterior variance of the latent
// function, after Malinin et al. 2020. GFSVI, table 4 (Cinquin and Bamler, arXiv:2406.04317), and FSP-Laplace,
// table C.1 (Cinquin et al., arXiv:2407.13711), do the same.
func detectionSuites() []Suite {
	suite := Suite{
		Methods: []string{"gfsvi", "fsp-laplace", "fvi", "mfvi", "laplace", "svgp", "gp"},
		Aliases: []Alias{
			{Name: "gfsvi-published", Method: "gfsvi:preset=published"},
			{Name: "fsp-laplace-published", Method: "fsp-laplace:preset=published"},
		},
		Quantities: []Quantity{
			{Name: "accuracy", Title: "Accuracy of a threshold", Digits: 3},
			{Name: "area", Title: "Area under the ROC curve", Digits: 3},
		},
		Seeds: folds,
	}
	standIn, original := suite, suite
	standIn.Name, standIn.Summary = "paper/detection", "inputs of other tables told from test inputs by posterior variance, after GFSVI and FSP-Laplace; needs --data"
	original.Name, original.Summary = "paper/detection-song", "the same with the inputs of YearPredictionMSD in song/data.csv, as published; needs --data"
	for _, name := range append(slices.Clone(smallTables), "kin8nm", "naval", "power", "protein") {
		others := slices.DeleteFunc(slices.Clone(standIns), func(s string) bool { return s == name })
		standIn.Experiments = append(standIn.Experiments, detection(name, others))
		original.Experiments = append(original.Experiments, detection(name, []string{song}))
	}
	return []Suite{standIn, original}
}

func detection(name string, others []string) Experiment {
	load := func(dir string) (Measurement, error) {
		t, err := tableOf(dir, name)
		if err != nil {
			return nil, err
		}
		o, err := besideEachOther(dir, others)
		if err != nil {
			return nil, err
		}
		return detector{t, o}.measure, nil
	}
	return Experiment{Name: name, Folders: append([]string{name}, others...), Load: load}
}

// columns are the inputs of a table, standardised by all of its rows.
type columns []*mat.Dense

// besideEachOther reads the inputs of tables.
func besideEachOther(dir string, folders []string) (columns, error) {
	var list columns
	for _, folder := range folders {
		rows, err := readRows(filepath.Join(dir, folder, "data.csv"))
		if err != nil {
			return nil, err
		}
		n, width := rows.Dims()
		x := mat.DenseCopyOf(rows.Slice(0, n, 0, width-1))
		if folder == song { // the target is the first column
			x = mat.DenseCopyOf(rows.Slice(0, n, 1, width))
		}
		scale, err := surrogate.NewInputMap(surrogate.ZScore, x, nil, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, scale.Apply(x))
	}
	return list, nil
}

// draw returns n points of the first dim columns. Each table contributes random rows.
func (c columns) draw(n, dim int, seed uint64) *mat.Dense {
	x := mat.NewDense(n, dim, nil)
	at := 0
	for k, part := range c {
		rng := random.New(seed, "rows of another table", k)
		rows, width := part.Dims()
		for i := range n {
			row := part.RawRowView(rng.IntN(rows))
			copy(x.RawRowView(i)[at:], row[:min(width, dim-at)])
		}
		if at = min(dim, at+width); at == dim {
			return x
		}
	}
	panic("runner: too few columns")
}

// detector fits methods to folds of a table.
type detector struct {
	table *Table
	other columns
}

func (d detector) measure(ctx context.Context, m Method, seed uint64, rec *Record) error {
	f, err := d.table.fold(seed)
	if err != nil {
		return err
	}
	c, err := m.chooser()
	if err != nil {
		return err
	}
	_, rec.Dim = f.train.Dims()
	post, err := c.Surrogate.Fit(ctx, f.train, random.New(seed, "fit of "+d.table.Name, 0))
	if err != nil {
		return err
	}
	rec.warn(post.Warnings())
	n, dim := f.test.Dims()
	_, inside, err := predict(ctx, post, f.test)
	if err != nil {
		return err
	}
	_, outside, err := predict(ctx, post, d.other.draw(n, dim, seed))
	if err != nil {
		return err
	}
	rec.Measures["accuracy"], rec.Measures["area"] = separation(inside, outside)
	return nil
}

// separation returns the largest accuracy of a threshold that tells two samples apart. It also returns the
// probability that a value of the second sample exceeds one of the first. The values above the threshold may
// belong to either sample, as in a decision tree of depth 1. Both samples have equal weights.
func separation(inside, outside []float64) (accuracy, area float64) {
	type value struct {
		v       float64
		outside bool
	}
	var all []value
	for _, v := range inside {
		all = append(all, value{v, false})
	}
	for _, v := range outside {
		all = append(all, value{v, true})
	}
	slices.SortFunc(all, func(a, b value) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		}
		return 0
	})
	n, m := float64(len(inside)), float64(len(outside))
	accuracy = 0.5
	var below, belowOutside float64 // values up to the threshold
	for i := 0; i < len(all); {
		var in, out float64
		for j := i; i < len(all) && all[i].v == all[j].v; i++ {
			if all[i].outside {
				out++
			} else {
				in++
			}
		}
		area += out * (below + in/2) / (n * m)
		below, belowOutside = below+in, belowOutside+out
		accuracy = max(accuracy, 0.5+math.Abs(below/n-belowOutside/m)/2)
	}
	return accuracy, area
}
