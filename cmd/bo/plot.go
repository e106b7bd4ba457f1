package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/plot"
	insightreport "github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// pictureFlags select the file and the look of a picture.
type pictureFlags struct {
	Size string `group:"result" placeholder:"WxH" help:"Size in pixels of a screen, such as 1200x800. A PNG has twice as many pixels in each direction. Default: 800x500, or higher for many panels."`
	Dark bool   `group:"result" help:"Draw on a dark background."`
}

type plotCmd struct {
	storeFlags
	pictureFlags
	Study     string   `arg:"" complete:"studies" help:"Name of the study."`
	Kind      string   `arg:"" enum:"history,slice,contour,importance,calibration,parallel,pareto,timeline,curves" help:"Picture to draw: history, slice, contour, importance, calibration, parallel, pareto, timeline or curves."`
	Output    string   `group:"result" short:"o" placeholder:"FILE" help:"File to write: FILE.svg or FILE.png. Without it history and importance are drawn as text."`
	Force     bool     `group:"result" help:"Replace the file of --output."`
	Param     []string `group:"what" placeholder:"NAME,NAME" help:"Parameters of a slice, contour or parallel: one or more, and two of a contour. Default: all, at most 12 slices, and the pair of a contour along which the prediction varies most."`
	Objective string   `group:"what" placeholder:"NAME" help:"One of several objectives."`
	Average   int      `group:"what" min:"0" max:"1000" placeholder:"N" help:"Average each slice over N points of the other parameters. Default: a slice through the incumbent."`
	JSON      bool     `group:"result" name:"json" help:"Print the data of the picture as one JSON object."`
}

func (plotCmd) Help() string {
	return `Draws a study as SVG or PNG:

    history      values in the order of trials, the best so far, and the predictions made before; the hypervolume of several objectives
    slice        prediction along each parameter with 50 and 95 % intervals, and the acquisition function
    contour      maps of mean, standard deviation, acquisition function and feasibility over two parameters
    importance   Sobol indices of the parameters, with 90 % intervals
    calibration  values against predictions from the other trials, coverage, and a verdict
    parallel     every trial as a line over the parameters and objectives, coloured by rank
    pareto       the front of several objectives, the reference point and the hypervolume
    timeline     evaluations of each worker
    curves       values by step of trials that report steps

slice, contour, importance and calibration fit the surrogate model. Other parameters of a slice or contour have their values at the incumbent. In a mixture the other components keep their ratios.

Examples:

    bo plot resnet history
    bo plot resnet slice -o slices.svg
    bo plot resnet contour --param rate,layers -o map.png --size 1200x800
    bo plot resnet importance --json | jq '.data[].parameter'`
}

// The kinds of pictures.
const (
	kindHistory     = "history"
	kindSlice       = "slice"
	kindContour     = "contour"
	kindImportance  = "importance"
	kindCalibration = "calibration"
	kindParallel    = "parallel"
	kindPareto      = "pareto"
	kindTimeline    = "timeline"
	kindCurves      = "curves"
)

// plotted is the object of bo plot --json.
type plotted struct {
	Study     string   `json:"study"`
	Kind      string   `json:"kind"`
	Objective string   `json:"objective,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	Data      any      `json:"data"`

	figure *plot.Figure
	text   func(w io.Writer, width int, blocks bool) error // nil if the kind has no text
}

func (c *plotCmd) Run(e *env) error {
	o, err := c.pictureFlags.options()
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	var out *plotted
	err = c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		d, _, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		out, err = c.plot(e, u, d, o)
		return err
	})
	if err != nil {
		return err
	}
	warn(e, out.Warnings)
	if c.Output != "" && c.Output != "-" {
		if err := writePicture(e, c.Output, out.figure); err != nil {
			return err
		}
	}
	switch {
	case c.JSON:
		return printJSON(e.stdout, out)
	case c.Output == "" || c.Output == "-":
		return out.text(e.stdout, outputWidth(e.stdout), terminal(e.stdout) != nil)
	}
	return nil
}

// check reports faults of the flags before any work.
func (c *plotCmd) check() error {
	if c.Param != nil && !slices.Contains([]string{kindSlice, kindContour, kindParallel}, c.Kind) {
		return usagef("--param belongs to %s, %s and %s, not to %s", kindSlice, kindContour, kindParallel, c.Kind)
	}
	if c.Kind == kindContour && c.Param != nil && (len(c.Param) != 2 || c.Param[0] == c.Param[1]) {
		return usagef("--param: a contour has two parameters, such as --param rate,layers")
	}
	if c.Average > 0 && c.Kind != kindSlice {
		return usagef("--average belongs to %s, not to %s", kindSlice, c.Kind)
	}
	if c.Objective != "" && (c.Kind == kindPareto || c.Kind == kindTimeline) {
		return usagef("--objective does not belong to %s", c.Kind)
	}
	if c.Output == "" || c.Output == "-" {
		if c.JSON || c.Kind == kindHistory || c.Kind == kindImportance {
			return nil
		}
		return usagef("%s has no form as text: give a file with -o %s.svg, or --json", c.Kind, c.Kind)
	}
	return checkPicture(c.Output, c.Force)
}

// checkPicture reports a file that is no picture, or that exists.
func checkPicture(path string, force bool) error {
	if ext := filepath.Ext(path); ext != ".svg" && ext != ".png" {
		return usagef("%s: want a name that ends in .svg or .png", path)
	}
	if _, err := os.Stat(path); err == nil && !force {
		return fmt.Errorf("%s exists: choose another name, or add --force", path)
	}
	return nil
}

// writePicture writes a picture in the format of the extension of path. It warns of characters that
// a PNG cannot show.
func writePicture(e *env, path string, f *plot.Figure) error {
	if filepath.Ext(path) != ".png" {
		return writeFile(path, f.SVG)
	}
	if missing := f.Missing(); missing != "" {
		warn(e, []string{fmt.Sprintf("%s has squares in place of %s, which its font lacks: a file that ends in .svg shows them", path, missing)})
	}
	return writeFile(path, f.PNG)
}

// options returns the options of a picture.
func (f pictureFlags) options() (plot.Options, error) {
	o := plot.Options{Dark: f.Dark}
	if f.Size == "" {
		return o, nil
	}
	w, h, ok := strings.Cut(f.Size, "x")
	var err1, err2 error
	o.Width, err1 = strconv.Atoi(w)
	o.Height, err2 = strconv.Atoi(h)
	if !ok || err1 != nil || err2 != nil || min(o.Width, o.Height) < 200 || max(o.Width, o.Height) > 10_000 {
		return o, usagef("--size is %q, want WIDTHxHEIGHT such as 1200x800, with 200 to 10000 pixels each", f.Size)
	}
	return o, nil
}

// plot computes the data and the picture.
func (c *plotCmd) plot(e *env, u *store.Study, d *study.Definition, o plot.Options) (*plotted, error) {
	r, err := insightreport.Read(e.ctx, u)
	if err != nil {
		return nil, err
	}
	if len(r.Trials) == 0 {
		return nil, fmt.Errorf("study %s has no trials to plot", c.Study)
	}
	out := &plotted{Study: c.Study, Kind: c.Kind}
	o.Title, o.Objective, o.Maximize = c.Study, d.Objective().Name, d.Objective().Goal == study.Maximize
	if err := c.choose(r, &o); err != nil {
		return nil, err
	}
	if err := c.known(r.Space); err != nil {
		return nil, err
	}
	switch c.Kind {
	case kindSlice, kindContour, kindImportance, kindCalibration:
		out.Objective = o.Objective
		return out, c.fitted(e, u, out, o)
	}
	return out, c.recorded(r, out, o)
}

// choose selects one of several objectives.
func (c *plotCmd) choose(r *insightreport.Records, o *plot.Options) error {
	goals := r.Options.Objectives
	if !r.Options.Several() {
		if c.Objective != "" && c.Objective != o.Objective {
			return usagef("study %s has one objective, %s", c.Study, o.Objective)
		}
		if c.Kind == kindPareto {
			return usagef("study %s has one objective: a Pareto front needs several", c.Study)
		}
		c.Objective = ""
		return nil
	}
	names := make([]string, len(goals))
	for i, g := range goals {
		names[i] = g.Name
	}
	switch {
	case c.Objective != "":
		i := slices.Index(names, c.Objective)
		if i < 0 {
			return usagef("unknown objective %q%s", c.Objective, didyoumean.Hint(c.Objective, names))
		}
		o.Objective, o.Maximize = goals[i].Name, goals[i].Maximize
	case slices.Contains([]string{kindSlice, kindContour, kindImportance, kindCalibration}, c.Kind):
		return usagef("study %s has several objectives: add --objective NAME, one of %s", c.Study, strings.Join(names, ", "))
	}
	return nil
}

// known reports a parameter of --param that cannot be drawn.
func (c *plotCmd) known(s *space.Space) error {
	var names []string
	for _, p := range s.Parameters() {
		if p.Kind != space.KindFixed {
			names = append(names, p.Name)
		}
	}
	for _, name := range c.Param {
		if !slices.Contains(names, name) {
			return usagef("--param: unknown parameter %q%s", name, didyoumean.Hint(name, names))
		}
	}
	if c.Kind == kindContour && len(names) < 2 {
		return fmt.Errorf("study %s has %s: a contour needs two", c.Study, count(len(names), "parameter"))
	}
	return nil
}

// recorded draws a picture that needs no fit.
func (c *plotCmd) recorded(r *insightreport.Records, out *plotted, o plot.Options) error {
	v := unfitted(r, c.Objective)
	switch c.Kind {
	case kindHistory:
		if v.Options.Several() {
			volumes := insight.HypervolumeHistory(v.Trials, v.Options)
			if volumes == nil {
				return fmt.Errorf("study %s has no hypervolume: it needs a feasible trial, at most %d objectives and a finite volume; --objective NAME shows one objective", c.Study, loop.MaxHypervolume)
			}
			out.Data, out.figure = volumes, plot.Hypervolume(volumes, o)
			out.text = func(w io.Writer, width int, blocks bool) error {
				return plot.HypervolumeText(w, volumes, o, width, blocks)
			}
			return nil
		}
		steps := insight.History(v.Trials, v.Options)
		out.Data, out.figure = steps, plot.History(steps, o)
		out.text = func(w io.Writer, width int, blocks bool) error { return plot.HistoryText(w, steps, o, width, blocks) }
		out.Objective = o.Objective
	case kindParallel:
		lines := insight.ParallelCoordinates(v)
		c.keepAxes(&lines)
		if lines.Objectives == nil {
			out.Objective = o.Objective
		}
		out.Data, out.figure = lines, plot.Parallel(lines, o)
	case kindPareto:
		front, volumes := insight.ParetoFront(v.Trials, v.Options), insight.HypervolumeHistory(v.Trials, v.Options)
		if len(front.Points) == 0 {
			return fmt.Errorf("study %s has no complete trial", c.Study)
		}
		out.Data = struct {
			insight.Front
			Hypervolume []insight.Volume `json:"hypervolume,omitempty"`
		}{front, volumes}
		out.figure = plot.Pareto(front, volumes, o)
	case kindTimeline:
		t := insight.Workers(r.Spans, r.View.Now)
		if len(t.Lanes) == 0 {
			return fmt.Errorf("study %s has no trial that a worker evaluated", c.Study)
		}
		out.Data, out.figure = t, plot.Timeline(t, o)
	case kindCurves:
		curves := insight.Curves(r.Trials, r.Options)
		if len(curves) == 0 {
			return fmt.Errorf("study %s has no trial that reported steps", c.Study)
		}
		out.Objective, out.Data, out.figure = o.Objective, curves, plot.Curves(curves, o)
	}
	return nil
}

// keepAxes leaves the parameters of --param, in its order.
func (c *plotCmd) keepAxes(p *insight.Parallel) {
	if c.Param == nil {
		return
	}
	var index []int
	var axes []insight.Axis
	for _, name := range c.Param {
		i := slices.IndexFunc(p.Axes, func(a insight.Axis) bool { return a.Name == name })
		index, axes = append(index, i), append(axes, p.Axes[i])
	}
	p.Axes = axes
	for k := range p.Lines {
		l := &p.Lines[k]
		values, positions := make([]any, len(index)), make([]insight.Number, len(index))
		for i, from := range index {
			values[i], positions[i] = l.Values[from], l.Positions[from]
		}
		l.Values, l.Positions = values, positions
	}
}

// fitted draws a picture of the surrogate model.
func (c *plotCmd) fitted(e *env, u *store.Study, out *plotted, o plot.Options) error {
	in, err := newInspection(e.ctx, u, maxInspected)
	if err != nil {
		return err
	}
	if text := in.bounded(); text != "" {
		out.Warnings = append(out.Warnings, text)
	}
	ctx, stop := watch(e.ctx, e.stderr, in.finished)
	defer stop()
	return heed(e.ctx, func() error {
		v, err := in.view(ctx, c.Objective)
		if errors.Is(err, loop.ErrNoValue) {
			return fmt.Errorf("study %s has no complete trial, and %s needs one", c.Study, c.Kind)
		}
		if err != nil {
			return err
		}
		out.Warnings = addNew(out.Warnings, v.Fit.Warnings...)
		return c.model(ctx, v, out, o)
	})
}

func (c *plotCmd) model(ctx context.Context, v *loop.View, out *plotted, o plot.Options) error {
	switch c.Kind {
	case kindSlice:
		all, err := insight.Slices(v, insight.SliceOptions{Average: c.Average})
		if err != nil {
			return err
		}
		if c.Param != nil {
			all = slices.DeleteFunc(all, func(s insight.Slice) bool { return !slices.Contains(c.Param, s.Axis.Name) })
			slices.SortStableFunc(all, func(a, b insight.Slice) int {
				return cmp.Compare(slices.Index(c.Param, a.Axis.Name), slices.Index(c.Param, b.Axis.Name))
			})
		}
		out.Data, out.figure = all, plot.Slices(all, o)
	case kindContour:
		pair := c.Param
		if pair == nil {
			var err error
			if pair, err = influentialPair(v); err != nil {
				return err
			}
		}
		size := 61
		if len(v.Rows) > 300 {
			size = 41 // a prediction costs the square of the number of trials
		}
		m, err := insight.Map(v, pair[0], pair[1], size)
		if err != nil {
			return err
		}
		out.Data, out.figure = m, plot.Contour(m, o)
	case kindImportance:
		if reason := insight.Unimportant(v); reason != "" {
			return fmt.Errorf("study %s has no importance: %s", c.Study, strings.TrimSuffix(strings.ToLower(reason[:1])+reason[1:], "."))
		}
		effects, err := insight.Importance(ctx, v, insight.ImportanceOptions{})
		if err != nil {
			return err
		}
		if len(effects) > 0 && math.IsNaN(float64(effects[0].Total)) && effects[0].Direction != insight.NotVaried {
			out.Warnings = append(out.Warnings, "the prediction is constant, so that importance is undefined")
		}
		o.Constrained = len(v.Space.Constraints()) > 0
		out.Data, out.figure = effects, plot.Importance(effects, o)
		out.text = func(w io.Writer, width int, blocks bool) error {
			err := plot.ImportanceText(w, effects, width, blocks)
			if err == nil && o.Constrained {
				_, err = fmt.Fprintln(w, plot.Constrained)
			}
			return err
		}
	case kindCalibration:
		calibration, err := insight.LeaveOneOut(ctx, v)
		if err != nil {
			return err
		}
		out.Data, out.figure = calibration, plot.Calibration(calibration, o)
	}
	return nil
}

// influentialPair returns the two parameters along which the mean varies most, among the pairs whose map is
// usable at a fifth of its points; if there is none, the pair with the most usable points.
func influentialPair(v *loop.View) ([]string, error) {
	all, err := insight.Slices(v, insight.SliceOptions{Points: 31})
	if err != nil {
		return nil, err
	}
	const enough, most = 0.2, 12
	var best []string
	largest := -1.0
	for n := 2; n <= min(most, len(all)); n++ {
		shown := plot.Influential(all, n)
		for j := range shown {
			for i := range j {
				pair := []string{shown[i].Axis.Name, shown[j].Axis.Name}
				part, err := insight.Usable(v, pair[0], pair[1])
				if err != nil {
					return nil, err
				}
				if part >= enough {
					return pair, nil
				}
				if part > largest {
					best, largest = pair, part
				}
			}
		}
	}
	return best, nil
}
