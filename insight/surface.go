package insight

import (
	"fmt"
	"math"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// Surface is the prediction over two parameters. The other parameters have their values at the
// incumbent, unless Moved. The matrices have a row per value of Y and a column per value of X.
type Surface struct {
	X  Axis  `json:"x"`
	Y  Axis  `json:"y"`
	Xs []any `json:"xs"`
	Ys []any `json:"ys"`

	// The matrices of numbers are null where one of the two parameters is inactive.
	Mean        [][]Number `json:"mean"`        // user's units
	SD          [][]Number `json:"sd"`          // half the length of the central interval of 68 %, user's units
	Acquisition [][]Number `json:"acquisition"` // units of the surrogate model
	Feasible    [][]bool   `json:"feasible"`    // whether the constraints on parameters hold
	// Probability is the probability that an evaluation returns a value and meets the outcome
	// constraints; nil if the study has neither failed trials nor outcome constraints.
	Probability [][]Number `json:"probability,omitempty"`

	// Moved reports that the other parameters change over the map. Without a change at most a line of points is
	// feasible, as in a mixture. The others change as by space.Space.Balance: other components keep their
	// ratios.
	Moved bool `json:"moved,omitempty"`
	// At holds the values of the incumbent, nil for an inactive parameter.
	At [2]any `json:"at"`
	// Trials are the trials for which both parameters are active.
	Trials []SurfaceTrial `json:"trials"`
}

// SurfaceTrial is a trial projected on two parameters.
type SurfaceTrial struct {
	Trial int        `json:"trial"`
	X     any        `json:"x"`
	Y     any        `json:"y"`
	State loop.State `json:"state"`
	Value Number     `json:"value"` // null unless complete
	// Feasible reports that the trial is complete and meets the requirements.
	Feasible bool `json:"feasible"`
}

// Map returns the prediction over parameters x and y on a grid of about size×size points; 2
// to 500, and 0 is 41. Points of the map at which one of the two parameters is inactive have NaN in
// all matrices.
//
// It costs a prediction and an evaluation of the acquisition function at size² points. The
// error wraps ErrArgument.
func Map(v *loop.View, x, y string, size int) (*Surface, error) {
	if size == 0 {
		size = 41
	}
	if size < 2 || size > 500 || x == y {
		return nil, fmt.Errorf("%w: a map of %q and %q of size %d, want two parameters and 2 to 500", ErrArgument, x, y, size)
	}
	grids, err := gridsOf(v, x, y, size)
	if err != nil {
		return nil, err
	}
	at := v.Trials[incumbent(v)].Point
	s := &Surface{
		X: grids[0].axis, Y: grids[1].axis, Xs: grids[0].values, Ys: grids[1].values,
		At: [2]any{at.Value(x), at.Value(y)}, Trials: []SurfaceTrial{},
	}
	points := pointsOf(v.Space, grids, at)
	s.Moved = points.moved
	for j := range s.Ys {
		s.addRow(v, points.rows[j], points.feasible[j])
	}
	for i := range v.Trials {
		if t := &v.Trials[i]; t.Point.Active(x) && t.Point.Active(y) {
			s.Trials = append(s.Trials, SurfaceTrial{t.ID, t.Point.Value(x), t.Point.Value(y), t.State, valueOf(t), v.Options.Feasible(t)})
		}
	}
	return s, nil
}

// gridsOf returns the grids of two parameters.
func gridsOf(v *loop.View, x, y string, size int) (grids [2]grid, err error) {
	for i, name := range []string{x, y} {
		p, err := parameter(v, name)
		if err != nil {
			return grids, err
		}
		grids[i] = newGrid(v.Space, p, size)
	}
	return grids, nil
}

// mapped has the encoded points of a map, a row for each value of y.
type mapped struct {
	rows     [][][]float64
	feasible [][]bool
	moved    bool
}

// pointsOf returns the points of a map.
func pointsOf(s *space.Space, grids [2]grid, at space.Point) mapped {
	var m mapped
	width, height, n := len(grids[0].values), len(grids[1].values), 0
	for j := range height {
		row, feasible := make([][]float64, width), make([]bool, width)
		for i := range row {
			row[i] = s.Encode(at)
			grids[0].set(row[i], i)
			grids[1].set(row[i], j)
			s.Project(row[i])
			if feasible[i] = s.Feasible(row[i]); feasible[i] {
				n++
			}
		}
		m.rows, m.feasible = append(m.rows, row), append(m.feasible, feasible)
	}
	if n > max(width, height) {
		return m
	}
	for j, y := range grids[1].values {
		for i, x := range grids[0].values {
			if m.feasible[j][i] {
				continue
			}
			if u, ok := balanced(s, s.Encode(at), map[string]any{grids[0].axis.Name: x, grids[1].axis.Name: y}); ok {
				m.rows[j][i], m.feasible[j][i], m.moved = u, true, true
			}
		}
	}
	return m
}

// Usable returns the usable part of the points of a map of x and y. At a usable point both parameters are
// active and the constraints on parameters hold. It needs no predictions. The error wraps ErrArgument.
func Usable(v *loop.View, x, y string) (float64, error) {
	grids, err := gridsOf(v, x, y, 21)
	if err != nil {
		return 0, err
	}
	m := pointsOf(v.Space, grids, v.Trials[incumbent(v)].Point)
	good, all := 0, len(grids[0].values)*len(grids[1].values)
	for j, row := range m.rows {
		for i, u := range row {
			if p := v.Space.Decode(u); m.feasible[j][i] && p.Active(x) && p.Active(y) {
				good++
			}
		}
	}
	return float64(good) / float64(all), nil
}

// addRow appends the predictions at the points of a value of y.
func (s *Surface) addRow(v *loop.View, rows [][]float64, feasible []bool) {
	n := len(rows)
	active := make([]bool, n)
	for i, u := range rows {
		p := v.Space.Decode(u)
		active[i] = p.Active(s.X.Name) && p.Active(s.Y.Name)
	}
	u := matrix(rows)
	means, variances := predict(v, u)
	mean, sd := make([]Number, n), make([]Number, n)
	for i := range rows {
		b := band(v, means[i], variances[i])
		mean[i], sd[i] = b.Mean, b.SD
	}
	s.Mean, s.SD, s.Feasible = append(s.Mean, mean), append(s.SD, sd), append(s.Feasible, feasible)
	acquired := acquisitions(v, u)
	s.Acquisition = append(s.Acquisition, acquired)
	layers := [][]Number{mean, sd, acquired}
	if all := len(v.Problem.Constraints); all > 0 {
		likely := make([]Number, n)
		for i, p := range probabilities(v, u, all) {
			likely[i] = Number(p)
		}
		s.Probability = append(s.Probability, likely)
		layers = append(layers, likely)
	}
	for i := range active {
		for _, layer := range layers {
			if !active[i] {
				layer[i] = Number(math.NaN())
			}
		}
	}
}
