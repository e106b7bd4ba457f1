package runner

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// maunaLoaSuite is the forecast of FSP-Laplace, section 4.1 (Cinquin et al.,
// arXiv:2407.13711): time, and sine and cosine of the season as inputs, under the
// prior of Rasmussen and Williams (2006), section 5.4.3.
func maunaLoaSuite() Suite {
	set := func(name string, prior ...string) Dataset {
		return Dataset{Name: name, Folder: "mauna_loa_co2", Read: readMaunaLoa, Seeds: 5, Prior: prior}
	}
	return Suite{
		Name:    "paper/mauna-loa",
		Summary: "carbon dioxide at Mauna Loa: forecast of 30 % of the months under a prior with a season; needs --data",
		Datasets: []Dataset{
			set("mauna-loa", maunaLoaStated...),
			set("mauna-loa-learned", "kernel="+maunaLoaKernel),
		},
		Methods: []string{"fsp-laplace", "fvi:hidden=50,50", "laplace", "gp"},
	}
}

// maunaLoaKernel sums a trend, a slowly changing season, irregularities and
// correlated noise. Inputs 1 and 2 are sine and cosine of the season: an RBF kernel
// on the circle is the periodic kernel exp(-2 sin²(πτ)/ℓ²) of time.
const maunaLoaKernel = "rbf[0] + rbf[0]*rbf[1,2](ard=false) + rq[0] + rbf[0]"

// maunaLoaStated has the book's hyperparameters for the months up to 2003. The trend is 66 ppm over 67 years,
// and the season 2.4 ppm over 90 years and 1.3. Irregularities are 0.66 ppm over 1.2 years with α = 0.78. The
// noise is 0.18 ppm over 1.6 months and 0.19 ppm. The unit is the standard deviation of the training rows:
// 8.735 years, 0.7081 and 13.81 ppm.
var maunaLoaStated = []string{
	"kernel=22.83*rbf[0](lengthscale=7.67)" +
		" + 0.03019*rbf[0](lengthscale=10.3)*rbf[1,2](lengthscale=1.836)" +
		" + 0.002283*rq[0](lengthscale=0.1374,alpha=0.78)" +
		" + 0.0001698*rbf[0](lengthscale=0.01526)",
	"noise=0.0001892",
}

// maunaLoaFrom is the first month of the table, May 1974 as in the paper.
const maunaLoaFrom = 12*1974 + 5

// readMaunaLoa reads the monthly means. A row has the middle of the month in years,
// sine and cosine of 2π times it, and the mean in ppm. Months without a measurement
// have no row. Every split tests on the last 30 % of the rows.
func readMaunaLoa(folder string) (*Table, error) {
	path := filepath.Join(folder, "monthly_noaa_1958_2017.csv")
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	const header = "year,month,decimal_date,trend,interpolated,average"
	if got := strings.Join(file.Header, ","); got != header {
		return nil, fmt.Errorf("%w: %s: the header is %s, want %s", ErrData, path, got, header)
	}
	t := &Table{Shown: []int{0}}
	var x []float64
	for i, line := range file.Rows {
		year, err1 := strconv.Atoi(line[0])
		month, err2 := strconv.Atoi(line[1])
		mean, err3 := 0.0, error(nil)
		if line[5] != "" {
			mean, err3 = strconv.ParseFloat(line[5], 64)
		}
		if err := errors.Join(err1, err2, err3); err != nil || math.IsNaN(mean) || math.IsInf(mean, 0) {
			return nil, fmt.Errorf("%w: %s: row %d: %v is not a month and its mean", ErrData, path, i+1, line)
		}
		if line[5] == "" || 12*year+month < maunaLoaFrom {
			continue
		}
		at := float64(year) + (float64(month)-0.5)/12
		sin, cos := math.Sincos(2 * math.Pi * at)
		x = append(x, at, sin, cos)
		t.Y = append(t.Y, mean)
	}
	n := len(t.Y)
	if n < 10 {
		return nil, fmt.Errorf("%w: %s has %d months from May 1974 on, want at least 10", ErrData, path, n)
	}
	t.X = mat.NewDense(n, 3, x)
	t.Lo, t.Hi = []float64{x[0], -1, -1}, []float64{x[3*(n-1)], 1, 1}
	t.repeat(rowsFrom(int(math.Round(0.7*float64(n))), n))
	return t, nil
}

// repeats is the number of seeds of a table with one split.
const repeats = 100

// repeat sets the test rows of every seed to test.
func (t *Table) repeat(test []int) {
	for range repeats {
		t.Test = append(t.Test, test)
	}
}

// rowsFrom returns from, …, n-1.
func rowsFrom(from, n int) []int {
	list := make([]int, 0, n-from)
	for i := from; i < n; i++ {
		list = append(list, i)
	}
	return list
}
