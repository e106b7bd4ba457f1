package figures

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/score"
	"github.com/functionspace/bo/surrogate"
)

// MoonsRecord is a fit to the two moons. The probability of class 1 is evaluated on a square
// grid of [-moonsReach, moonsReach]², row by row.
type MoonsRecord struct {
	Panel    string    `json:"panel"`
	Method   string    `json:"method"`
	Settings []string  `json:"settings"`
	Accuracy float64   `json:"accuracy"` // of 1000 test points
	LogProb  float64   `json:"log_prob"` // mean, of the test points
	Far      float64   `json:"far"`      // mean distance of the probability from 1/2 on the edge of the grid
	Seconds  float64   `json:"seconds"`  // of the fit
	Mean     []float64 `json:"mean"`     // of the probability
	SD       []float64 `json:"two_sd"`   // two standard deviations
	Error    string    `json:"error,omitempty"`
	Commit   string    `json:"commit,omitempty"`
	Date     string    `json:"date"`
}

// The setup of FSP-Laplace, appendix B.1.
const (
	moonsReach = 3.75
	moonsGrid  = 41
	moonsRows  = 100
	moonsNoise = 0.1
)

// moonsStudy follows GFSVI, figures 9 and 10, and FSP-Laplace, figures C.5, C.6 and C.8.
func moonsStudy() Study {
	return Study{"two-moons", "probabilities of gp, fsp-laplace, gfsvi and laplace on two moons", runMoons, showMoons}
}

// moonsPanels are the columns of the picture.
var moonsPanels = []struct {
	title, method string
	settings      []string
}{
	{"gp, RBF", "gp", []string{"kernel=rbf", "mean=zero"}},
	{"fsp-laplace, RBF", "fsp-laplace", []string{"kernel=rbf", "mean=zero"}},
	{"gfsvi, RBF", "gfsvi", []string{"kernel=rbf", "mean=zero"}},
	{"laplace", "laplace", nil},
	{"gp, Matérn-1/2", "gp", []string{"kernel=matern12", "mean=zero"}},
	{"fsp-laplace, Matérn-1/2", "fsp-laplace", []string{"kernel=matern12", "mean=zero"}},
	{"gfsvi, Matérn-1/2", "gfsvi", []string{"kernel=matern12", "mean=zero"}},
	{"fsp-laplace, RBF, 5 points", "fsp-laplace", []string{"kernel=rbf", "mean=zero", "trainer=adam", "factor=lanczos", "context=5", "covariance-context=5"}},
}

// moons returns n points on two half circles, half of them of each class, with noise.
func moons(n int, seed uint64, purpose string) surrogate.Labels {
	rng := random.New(seed, purpose, 0)
	l := surrogate.Labels{X: mat.NewDense(n, 2, nil), Y: make([]int, n), Classes: 2}
	for i := range n {
		angle := math.Pi * rng.Float64()
		x, y := math.Cos(angle), math.Sin(angle)
		if l.Y[i] = i % 2; l.Y[i] == 1 {
			x, y = 1-x, 0.5-y
		}
		l.X.SetRow(i, []float64{x + moonsNoise*rng.NormFloat64(), y + moonsNoise*rng.NormFloat64()})
	}
	l.Lo, l.Hi = []float64{-moonsReach, -moonsReach}, []float64{moonsReach, moonsReach}
	return l
}

func moonsAt() *mat.Dense {
	axis := between(-moonsReach, moonsReach, moonsGrid)
	x := mat.NewDense(moonsGrid*moonsGrid, 2, nil)
	for i, b := range axis {
		for j, a := range axis {
			x.SetRow(i*moonsGrid+j, []float64{a, b})
		}
	}
	return x
}

func runMoons(ctx context.Context, path string, _ int, tell func(string)) error {
	var records []MoonsRecord
	_, commit := runner.Version()
	for _, panel := range moonsPanels {
		r := MoonsRecord{Panel: panel.title, Method: panel.method, Settings: panel.settings, Commit: commit, Date: time.Now().UTC().Format(time.DateOnly)}
		if err := r.measure(ctx); err != nil {
			return err
		}
		tell(fmt.Sprintf("%s  accuracy %.3f, log probability %.3f in %.3g s %s", r.Panel, r.Accuracy, r.LogProb, r.Seconds, r.Error))
		records = append(records, r)
	}
	return writeLines(path+".jsonl", records)
}

func (r *MoonsRecord) measure(ctx context.Context) error {
	m, err := configured(r.Method, r.Settings)
	if err != nil {
		return err
	}
	begin := time.Now()
	post, err := m.(surrogate.Classifier).FitLabels(ctx, moons(moonsRows, 1, "moons"), random.New(1, "moons fit", 0))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Seconds = sig(time.Since(begin).Seconds())
	if err != nil {
		r.Error = err.Error()
		return nil
	}
	test := moons(1000, 1, "moons test")
	prob := mat.NewDense(len(test.Y), 2, nil)
	post.Predict(prob, test.X)
	s := score.Classes(test.Y, prob)
	r.Accuracy, r.LogProb = sig(s.Accuracy), sig(s.LogProbability)
	r.field(post)
	return nil
}

// field evaluates mean and standard deviation of the probability on the grid.
func (r *MoonsRecord) field(post surrogate.ClassPosterior) {
	x := moonsAt()
	n, _ := x.Dims()
	mean, variance := mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil)
	post.Latent(mean, variance, x)
	edge, count := 0.0, 0.0
	for i := range n {
		m, s := squashed(mean.At(i, 0), math.Sqrt(max(0, variance.At(i, 0))))
		r.Mean, r.SD = append(r.Mean, math.Round(100*m)/100), append(r.SD, math.Round(200*s)/100)
		if a, b := i%moonsGrid, i/moonsGrid; a == 0 || b == 0 || a == moonsGrid-1 || b == moonsGrid-1 {
			edge, count = edge+math.Abs(m-0.5), count+1
		}
	}
	r.Far = sig(edge / count)
}

// squashed returns mean and standard deviation of 1/(1+e^{-f}), f ~ N(mean, sd²).
func squashed(mean, sd float64) (m, s float64) {
	const nodes = 40
	at, weight := make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(at, weight, math.Inf(-1), math.Inf(1))
	var second float64
	for i, u := range at {
		w := weight[i] / math.SqrtPi // the rule has the weight e^{-u²}
		p := 1 / (1 + math.Exp(-(mean + math.Sqrt2*sd*u)))
		m += w * p
		second += w * p * p
	}
	return m, math.Sqrt(max(0, second-m*m))
}

func showMoons(path string) (string, func() error, error) {
	records, err := readLines[MoonsRecord](path + ".jsonl")
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	b.WriteString("| | accuracy | mean log probability | distance from ½ at the edge | time of a fit |\n|---|---|---|---|---|\n")
	var rows [][]*plot.Plot
	var commits []string
	for chunk := range slices.Chunk(records, 4) {
		means, spreads := make([]*plot.Plot, 4), make([]*plot.Plot, 4)
		for i, r := range chunk {
			if !slices.Contains(commits, r.Commit) {
				commits = append(commits, r.Commit)
			}
			if r.Error != "" {
				fmt.Fprintf(&b, "| %s | failed: %s | | | |\n", r.Panel, r.Error)
				continue
			}
			fmt.Fprintf(&b, "| %s | %.1f %% | %.3f | %.2f | %s |\n", r.Panel, 100*r.Accuracy, r.LogProb, r.Far, seconds(r.Seconds))
			means[i], spreads[i] = field(r.Panel, r.Mean), field(r.Panel+": 2 sd", r.SD)
		}
		rows = append(rows, means, spreads)
	}
	fmt.Fprintf(&b, "\nOne dataset of 100 points, 1000 test points. Commit %s.\n", strings.Join(commits, ", "))
	return b.String(), func() error { return saveFields(rows, path+".png") }, nil
}

// heat is a field on the grid, in shades from white at 0 to blue at 1.
type heat []float64

func (h heat) Dims() (c, r int)   { return moonsGrid, moonsGrid }
func (h heat) Z(c, r int) float64 { return h[r*moonsGrid+c] }
func (h heat) X(c int) float64    { return -moonsReach + 2*moonsReach*float64(c)/(moonsGrid-1) }
func (h heat) Y(r int) float64    { return h.X(r) }

type shadesOfBlue struct{}

func (shadesOfBlue) Colors() []color.Color {
	var list []color.Color
	for k := range shades + 1 { // the shades of encode
		list = append(list, blend(ink, float64(k)/shades))
	}
	return list
}

// field draws a field with the training points: class 0 as rings, class 1 as discs.
func field(title string, values []float64) *plot.Plot {
	p := newPanel(title)
	p.Title.TextStyle.Font = chart.Font(9)
	m := plotter.NewHeatMap(heat(values), shadesOfBlue{})
	m.Min, m.Max, m.Rasterized = 0, 1, true
	p.Add(m)
	l := moons(moonsRows, 1, "moons")
	for class, shape := range []draw.GlyphDrawer{draw.RingGlyph{}, draw.CircleGlyph{}} {
		var at plotter.XYs
		for i, y := range l.Y {
			if y == class {
				at = append(at, plotter.XY{X: l.X.At(i, 0), Y: l.X.At(i, 1)})
			}
		}
		p.Add(&plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: point, Radius: 1.5, Shape: shape}})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -moonsReach, moonsReach, -moonsReach, moonsReach
	return p
}

// saveFields draws rows of four panels.
func saveFields(rows [][]*plot.Plot, path string) error {
	tiles := draw.Tiles{Rows: len(rows), Cols: len(rows[0]), PadX: gap, PadY: gap, PadTop: gap, PadBottom: gap, PadLeft: gap, PadRight: gap}
	paint := func(c draw.Canvas) {
		for i, row := range plot.Align(rows, tiles, c) {
			for j, cell := range row {
				if rows[i][j] != nil {
					rows[i][j].Draw(cell)
				}
			}
		}
	}
	return chart.Write(path, width, vg.Length(len(rows))*6*vg.Centimeter, dpi, paint, encode)
}
