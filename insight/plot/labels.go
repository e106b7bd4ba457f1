package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Labelled is a label of held-out data with its prediction.
type Labelled struct {
	Label      string
	Predicted  string  // the most probable label
	Confidence float64 // its probability
}

const (
	confidenceBins = 15 // as in the expected calibration error
	mostLabels     = 12 // of a confusion matrix with numbers
)

// Labels draws a reliability diagram of predicted labels: the share of right predictions against their
// probability in 15 bins with intervals of 95 %. It also draws the number of predictions in each bin, and a
// confusion matrix of the classes, whose colour is the share of a label.
func Labels(all []Labelled, classes []string, o Options) *Figure {
	f := newFigure("predicted labels of held-out data", o)
	var bins [confidenceBins]bin
	right := 0
	for _, l := range all {
		b := &bins[min(max(0, int(confidenceBins*l.Confidence)), confidenceBins-1)]
		b.n, b.sum = b.n+1, b.sum+l.Confidence
		if l.Label == l.Predicted {
			b.right++
			right++
		}
	}
	f.subtitle = fmt.Sprintf("%d of %d labels have the largest probability.", right, len(all))
	reliability, counts := reliabilityPanels(&bins)
	f.rows = [][]cell{{
		{panels: []*panel{reliability, counts}, shares: []float64{0.72, 0.28}, width: 0.5},
		{panels: []*panel{confusionPanel(all, classes, f.options.Objective)}, shares: []float64{1}, width: 0.5},
	}}
	t := f.theme
	f.legend = []entry{
		{label: "share of right predictions", shape: dot, color: t.Evaluation}, lineEntry("95 % interval", t.Band50),
		lineEntry("calibrated", t.Incumbent, 4, 2), bandEntry("share of a label", mix(t.Mean, t.Background, 0.6)),
	}
	return f
}

// bin holds predictions of similar confidence.
type bin struct {
	n, right int
	sum      float64 // of the confidences
}

// wilson returns the 95 % interval of the share of right predictions (Wilson 1927).
func (b *bin) wilson() (low, high float64) {
	const z = 1.959963984540054
	n, p := float64(b.n), float64(b.right)/float64(b.n)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return middle - half, middle + half
}

func reliabilityPanels(bins *[confidenceBins]bin) (reliability, counts *panel) {
	unit := axis{lo: 0, hi: 1}
	reliability = &panel{x: unit, y: axis{label: "share of right predictions", lo: 0, hi: 1.03}, hideX: true}
	reliability.draw = func(g *graph) {
		g.curve(2, func(i int) (x, y float64) { return float64(i), float64(i) }, g.theme.Incumbent, 1.2, 4, 2)
		var used []bin
		for _, b := range bins {
			if b.n > 0 {
				used = append(used, b)
			}
		}
		at := func(i int) float64 { return used[i].sum / float64(used[i].n) }
		g.bars(len(used), func(i int) (x, low, high float64) {
			low, high = used[i].wilson()
			return at(i), low, high
		}, g.theme.Band50, 2)
		g.markRole(evaluation, g.points(len(used), func(i int) (x, y float64) { return at(i), float64(used[i].right) / float64(used[i].n) }))
	}
	most := 1
	for _, b := range bins {
		most = max(most, b.n)
	}
	counts = &panel{x: unit, y: axis{label: "rows", lo: 0, hi: 1.08 * float64(most), integer: true}}
	counts.x.label = "probability of the predicted label"
	counts.draw = func(g *graph) {
		for k, b := range bins {
			if b.n > 0 {
				g.box(g.X(float64(k)/confidenceBins)+0.5, g.Min.Y, g.X(float64(k+1)/confidenceBins)-0.5, g.Y(counts.y.place(float64(b.n))), g.theme.Band50)
			}
		}
	}
	return reliability, counts
}

// confusionPanel draws the numbers of predictions by label, with the first label on top.
func confusionPanel(all []Labelled, classes []string, target string) *panel {
	k := len(classes)
	count, total := make([][]int, k), make([]int, k)
	for i := range count {
		count[i] = make([]int, k)
	}
	for _, l := range all {
		i, j := slices.Index(classes, l.Label), slices.Index(classes, l.Predicted)
		count[i][j]++
		total[i]++
	}
	names := axis{lo: -0.5, hi: float64(max(1, k)) - 0.5, names: classes}
	p := &panel{x: names, y: names, plain: true}
	p.x.label, p.y.label = target+", predicted", target+", observed"
	p.y.names = slices.Clone(classes)
	slices.Reverse(p.y.names)
	p.draw = func(g *graph) {
		width, height := (g.Max.X-g.Min.X)/vg.Length(k), (g.Max.Y-g.Min.Y)/vg.Length(k)
		for i := range count {
			for j, n := range count[i] {
				if n == 0 {
					continue
				}
				left, top := g.Min.X+width*vg.Length(j), g.Max.Y-height*vg.Length(i)
				share := float64(n) / float64(total[i])
				g.box(left+0.5, top-height+0.5, left+width-0.5, top-0.5, mix(g.theme.Mean, g.theme.Background, 0.08+0.52*share))
				if text := fmt.Sprint(n); k <= mostLabels && widthOf(text, tickSize) < width-2 && height > tickSize {
					g.text(text, left+width/2, top-height/2, textStyle{size: tickSize, x: draw.XCenter, y: draw.YCenter})
				}
			}
		}
	}
	return p
}
