package figures

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
)

// Spectrum holds the mean eigenvalues, descending, of the Gram matrix of a kernel of
// output variance 1 at points drawn uniformly from [-2,2]^Dim, over draws.
type Spectrum struct {
	Kernel      string    `json:"kernel"`
	Lengthscale float64   `json:"lengthscale"`
	Dim         int       `json:"dim"`
	Points      int       `json:"points"`
	Draws       int       `json:"draws"`
	Values      []float64 `json:"values"`
}

// The kernels and dimensions of GFSVI, figure 14: smooth and rough, few and many
// inputs.
var (
	spectrumKernels      = []string{"rbf", "matern12"}
	spectrumLengthscales = []float64{0.25, 1, 4}
	spectrumDims         = []int{1, 100}
)

// spectrumPoints is the number of points of a Gram matrix.
const spectrumPoints = 300

func runEigenvalues(ctx context.Context, path string, seeds int, tell func(string)) error {
	var all []Spectrum
	for _, dim := range spectrumDims {
		for _, kernel := range spectrumKernels {
			for _, ell := range spectrumLengthscales {
				if err := ctx.Err(); err != nil {
					return err
				}
				s, err := spectrum(kernel, ell, dim, seeds)
				if err != nil {
					return err
				}
				tell(fmt.Sprintf("%s lengthscale %v in %d dimensions  %d of %d eigenvalues hold 99 %% of the variance", kernel, ell, dim, s.share(0.99), s.Points))
				all = append(all, s)
			}
		}
	}
	return writeLines(path+".jsonl", all)
}

func showEigenvalues(path string) (string, func() error, error) {
	all, err := readLines[Spectrum](path + ".jsonl")
	if err != nil {
		return "", nil, err
	}
	return spectrumTable(all), func() error { return savePanels(spectrumPanels(all), path) }, nil
}

func spectrum(kernel string, ell float64, dim, draws int) (Spectrum, error) {
	s := Spectrum{Kernel: kernel, Lengthscale: ell, Dim: dim, Points: spectrumPoints, Draws: draws, Values: make([]float64, spectrumPoints)}
	process, err := prior.Spec{Kernel: kernel, Lengthscale: []float64{ell}, Variance: new(1.0)}.Process(dim)
	if err != nil {
		return s, err
	}
	x, gram := mat.NewDense(s.Points, dim, nil), mat.NewSymDense(s.Points, nil)
	for draw := range draws {
		rng := random.New(uint64(draw+1), "figures eigenvalues", dim)
		for i := range x.RawMatrix().Data {
			x.RawMatrix().Data[i] = -2 + 4*rng.Float64()
		}
		process.Kernel.Gram(gram, x)
		values, _, err := linalg.Eigen(gram)
		if err != nil {
			return s, err
		}
		for i, v := range values { // ascending
			s.Values[s.Points-1-i] += v / float64(draws)
		}
	}
	return s, nil
}

// share returns the smallest number of eigenvalues whose sum is the given share of
// the total.
func (s Spectrum) share(of float64) int {
	var sum float64
	for i, v := range s.Values {
		if sum += v; sum >= of*float64(s.Points) {
			return i + 1
		}
	}
	return s.Points
}

// above returns the number of eigenvalues above a multiple of the largest.
func (s Spectrum) above(of float64) int {
	for i, v := range s.Values {
		if v <= of*s.Values[0] {
			return i
		}
	}
	return s.Points
}

func spectrumTable(all []Spectrum) string {
	var b strings.Builder
	b.WriteString("| dimensions | kernel | lengthscale | largest | 99 % of the variance | 99.99 % | above 1.5e-8 of the largest |\n|---|---|---|---|---|---|---|\n")
	for _, s := range all {
		fmt.Fprintf(&b, "| %d | %s | %v | %.3g | %d | %d | %d of %d |\n",
			s.Dim, s.Kernel, s.Lengthscale, s.Values[0], s.share(0.99), s.share(0.9999), s.above(1.5e-8), s.Points)
	}
	return b.String()
}

// leastEigenvalue is the smallest eigenvalue drawn: smaller eigenvalues are rounding errors.
const leastEigenvalue = 1e-14

func spectrumPanels(all []Spectrum) []*plot.Plot {
	var panels []*plot.Plot
	for _, dim := range spectrumDims {
		p := newPanel(fmt.Sprintf("%d points of [-2,2]^%d: kernel, lengthscale", spectrumPoints, dim))
		label(p, "index", "eigenvalue")
		k := 0
		for _, s := range all {
			if s.Dim != dim {
				continue
			}
			var at plotter.XYs
			for i, v := range s.Values {
				if v < leastEigenvalue {
					break
				}
				at = append(at, plotter.XY{X: float64(i + 1), Y: math.Log10(v)})
			}
			addLine(p, fmt.Sprintf("%s, %v", s.Kernel, s.Lengthscale), at, chart.StyleOf(k))
			k++
		}
		p.X.Tick.Marker = plot.TickerFunc(chart.Counts)
		p.Y.Tick.Marker = plot.TickerFunc(chart.Decades)
		p.Y.Min, p.Y.Max = math.Log10(leastEigenvalue), math.Log10(spectrumPoints)
		panels = append(panels, p)
	}
	return panels
}
