package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"

	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// stage is a study whose picture shows posteriors in one input, a panel each.
type stage struct {
	name, summary string
	rows, columns []string // of the table; the title of a row may be empty
	across        int      // panels in a row of the picture; 0 has the rows of the table
	// scene returns the fit in a row and a column.
	scene func(row, column int) scene
	// data returns the observations of a seed in a scene.
	data func(s scene, seed uint64) surrogate.Dataset
	x    []float64 // grid of the panels
	// bottom and top bound the vertical axis.
	bottom, top float64
}

// scene is a surrogate model with settings. Without a surrogate model it shows draws from the
// prior.
type scene struct {
	surrogate string
	settings  []string
	noise     float64 // variance
	process   *Prior  // of the exact reference; nil without one
	prior     string  // of the stage implicitPriors
	instance  int     // number of the function in that stage
}

// SceneRecord is a fit of a scene.
type SceneRecord struct {
	Row      string   `json:"row"`
	Column   string   `json:"column"`
	Method   string   `json:"method"`
	Settings []string `json:"settings"`
	Seed     uint64   `json:"seed"`
	// Distance is the distance from the exact process that the package comment defines. Mean and SD are mean
	// absolute differences of the means and the standard deviations. They are absent without a reference.
	Distance *float64 `json:"distance,omitempty"`
	Mean     float64  `json:"mean,omitempty"`
	SD       float64  `json:"sd,omitempty"`
	Seconds  float64  `json:"seconds"`
	Error    string   `json:"error,omitempty"`
	Commit   string   `json:"commit,omitempty"`
	Date     string   `json:"date"`
	// Shown is the posterior on the grid, and Exact the reference, for seed 1.
	Shown *shownCurve `json:"shown,omitempty"`
	Exact *shownCurve `json:"exact,omitempty"`
}

// shownCurve is a curve rounded for a picture.
type shownCurve struct {
	Mean  []float64   `json:"mean,omitempty"`
	SD    []float64   `json:"sd,omitempty"`
	Paths [][]float64 `json:"paths,omitempty"`
}

func (g stage) study() Study {
	return Study{Name: g.name, Summary: g.summary, run: g.run, show: g.show}
}

func (g stage) run(ctx context.Context, path string, seeds int, tell func(string)) error {
	var records []SceneRecord
	_, commit := runner.Version()
	for seed := range uint64(seeds) {
		for i, row := range g.rows {
			for j, column := range g.columns {
				s := g.scene(i, j)
				r := SceneRecord{Row: row, Column: column, Method: s.surrogate, Settings: s.settings, Seed: seed + 1, Commit: commit, Date: time.Now().UTC().Format(time.DateOnly)}
				if err := g.measure(ctx, s, &r); err != nil {
					return err
				}
				tell(r.text())
				records = append(records, r)
			}
		}
	}
	return writeLines(path+".jsonl", records)
}

func (r SceneRecord) text() string {
	head := fmt.Sprintf("%s %s seed %d", r.Row, r.Column, r.Seed)
	switch {
	case r.Error != "":
		return head + "  failed: " + r.Error
	case r.Distance != nil:
		head += fmt.Sprintf("  distance %.3f", *r.Distance)
	}
	return fmt.Sprintf("%s  in %.3g s", head, r.Seconds)
}

// measure fits the model of a scene. A failed fit is recorded. The error reports cancellation
// or a wrong setting.
func (g stage) measure(ctx context.Context, s scene, r *SceneRecord) error {
	if s.surrogate == "" {
		r.Shown = shown(curve{paths: priorDraws(s, g.x)})
		return nil
	}
	x := mat.NewDense(len(g.x), 1, g.x)
	d := g.data(s, r.Seed)
	var want curve
	if s.process != nil {
		spec := s.process.Spec()
		spec.Noise = &s.noise
		process, err := spec.Process(1)
		if err != nil {
			return err
		}
		post, err := gp.New(process, d)
		if err != nil {
			return err
		}
		want = curveAt(post, x, r.Seed)
	}
	m, err := configured(s.surrogate, s.settings)
	if err != nil {
		return err
	}
	begin := time.Now()
	post, err := m.Fit(ctx, d, random.New(r.Seed, "figures fit", 0))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Seconds = sig(time.Since(begin).Seconds())
	if err != nil {
		r.Error = err.Error()
		return nil
	}
	got := curveAt(post, x, r.Seed)
	if s.process != nil {
		r.compare(got, want)
	}
	if r.Seed == 1 {
		r.Shown = shown(got)
		if s.process != nil {
			want.paths = nil
			r.Exact = shown(want)
		}
	}
	return nil
}

func (r *SceneRecord) compare(got, want curve) {
	n := float64(len(want.mean))
	for i := range want.mean {
		r.Mean += math.Abs(got.mean[i]-want.mean[i]) / n
		r.SD += math.Abs(got.sd[i]-want.sd[i]) / n
	}
	r.Mean, r.SD = sig(r.Mean), sig(r.SD)
	r.Distance = new(sig(distance(got, want)))
}

// sig rounds to four significant digits.
func sig(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// shown rounds a curve to three decimals.
func shown(c curve) *shownCurve {
	short := func(list []float64) []float64 {
		out := make([]float64, len(list))
		for i, v := range list {
			out[i] = math.Round(1000*v) / 1000
		}
		return out
	}
	s := &shownCurve{}
	if c.mean != nil {
		s.Mean, s.SD = short(c.mean), short(c.sd)
	}
	for _, p := range c.paths {
		s.Paths = append(s.Paths, short(p))
	}
	return s
}

func (s *shownCurve) curve() curve { return curve{s.Mean, s.SD, s.Paths} }

// show returns the table of the distances, or of the times of fits without a reference. The
// picture shows seed 1.
func (g stage) show(path string) (string, func() error, error) {
	records, err := readLines[SceneRecord](path + ".jsonl")
	if err != nil {
		return "", nil, err
	}
	return g.table(records), func() error { return g.draw(records, path+".png") }, nil
}

func (g stage) draw(records []SceneRecord, path string) error {
	var panels []*plot.Plot
	for i := range g.rows {
		for j := range g.columns {
			panels = append(panels, g.panelOf(records, i, j))
		}
	}
	return saveGrid(slices.Collect(slices.Chunk(panels, cmp.Or(g.across, len(g.columns)))), path)
}

func (g stage) panelOf(records []SceneRecord, i, j int) *plot.Plot {
	k := slices.IndexFunc(records, func(r SceneRecord) bool {
		return r.Row == g.rows[i] && r.Column == g.columns[j] && r.Seed == 1
	})
	title := strings.TrimPrefix(g.rows[i]+", "+g.columns[j], ", ")
	f := frame{x: g.x, bottom: g.bottom, top: g.top}
	if s := g.scene(i, j); s.surrogate != "" {
		f.data = observed(g.data(s, 1))
	}
	if k < 0 || records[k].Shown == nil {
		return f.panel(title+" (no result)", curve{}, nil, ink)
	}
	var exact *curve
	if e := records[k].Exact; e != nil {
		c := e.curve()
		exact = &c
	}
	return f.panel(title, records[k].Shown.curve(), exact, ink)
}

func (g stage) table(records []SceneRecord) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, column := range g.columns {
		fmt.Fprintf(&b, " %s |", column)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(g.columns)) + "\n")
	seeds := map[uint64]bool{}
	var commits []string
	for _, row := range g.rows {
		fmt.Fprintf(&b, "| %s |", row)
		for _, column := range g.columns {
			var d, times []float64
			failed := 0
			for _, r := range records {
				if r.Row != row || r.Column != column {
					continue
				}
				seeds[r.Seed] = true
				if !slices.Contains(commits, r.Commit) {
					commits = append(commits, r.Commit)
				}
				switch {
				case r.Error != "":
					failed++
				case r.Distance != nil:
					d = append(d, *r.Distance)
				}
				if r.Method != "" {
					times = append(times, r.Seconds)
				}
			}
			b.WriteString(sceneCell(d, times, failed))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nSeeds: %d. Commit %s.\n", len(seeds), strings.Join(commits, ", "))
	return b.String()
}

// sceneCell writes distances, or the time of a fit without a reference.
func sceneCell(distances, times []float64, failed int) string {
	text := ""
	switch {
	case len(distances) > 1:
		mean, se := meanSE(distances)
		text = fmt.Sprintf(" %.3f ± %.3f", mean, se)
	case len(distances) == 1:
		text = fmt.Sprintf(" %.3f", distances[0])
	case len(times) > failed:
		text = " " + seconds(median(times))
	}
	if failed > 0 {
		text += fmt.Sprintf(" (%d failed)", failed)
	}
	return text + " |"
}
