package runner

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// oceanSuite estimates currents in the Gulf of Mexico as in FSP-Laplace, section 4.1
// (Cinquin et al., arXiv:2407.13711), and GFSVI (Cinquin and Bamler,
// arXiv:2406.04317). The networks are ordinary networks of coordinates and component;
// the papers use grad Φ + rot Ψ of two networks, as network.Helmholtz does.
func oceanSuite() Suite {
	set := func(name, kernel string) Dataset {
		return Dataset{Name: name, Folder: "gulf_drifters", Read: readOcean, Seeds: 5, Prior: []string{"kernel=" + kernel}}
	}
	return Suite{
		Name:    "paper/ocean",
		Summary: "currents in the Gulf of Mexico from 20 drifters, under a prior with potentials and stream functions; needs --data",
		Datasets: []Dataset{
			set("ocean", "potential + stream"),
			set("ocean-components", "matern12[2]*rbf[0,1](ard=false)"),
		},
		Methods: []string{"fsp-laplace", "fvi:hidden=50,50", "gfsvi", "laplace", "gp"},
	}
}

// The table's coordinates are 100 km east and north of a central point.
const (
	oceanLon, oceanLat = -87.3, 25.75
	degree             = 1.112 // length of a degree of latitude, in 100 km
)

// readOcean reads drifters and grid. A row has two coordinates in 100 km, the
// component (0 east, 1 north) and its velocity in m/s. Every split tests on the grid.
func readOcean(folder string) (*Table, error) {
	var x, y []float64
	add := func(file string) error {
		path := filepath.Join(folder, file)
		content, err := open(path)
		if err != nil {
			return err
		}
		if len(content.Header) != 4 {
			return fmt.Errorf("%w: %s: the header has %d cells, want lon,lat,ubar,vbar", ErrData, path, len(content.Header))
		}
		rows, err := numbers(content)
		if err != nil {
			return err
		}
		for i := range content.Rows {
			r := rows.RawRowView(i)
			east, north := (r[0]-oceanLon)*degree*math.Cos(oceanLat*math.Pi/180), (r[1]-oceanLat)*degree
			x = append(x, east, north, 0, east, north, 1)
			y = append(y, r[2], r[3])
		}
		return nil
	}
	if err := add("train.csv"); err != nil {
		return nil, err
	}
	train := len(y)
	if err := add("test.csv"); err != nil {
		return nil, err
	}
	n := len(y)
	t := &Table{X: mat.NewDense(n, 3, x), Y: y, Inputs: surrogate.Raw, Shown: []int{0, 1, 2}}
	for j := range 3 {
		column := mat.Col(nil, j, t.X)
		t.Lo, t.Hi = append(t.Lo, slices.Min(column)), append(t.Hi, slices.Max(column))
	}
	t.repeat(rowsFrom(train, n))
	return t, nil
}
