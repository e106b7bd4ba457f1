package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/insight"
)

// textRows is the height of a plot in characters.
const textRows = 16

// HistoryText draws the history in characters: a line for the best value so far and marks for the
// trials. With blocks it uses the dots of Braille and box characters, otherwise ASCII alone. The width is
// at least 40 columns.
func HistoryText(w io.Writer, steps []insight.Step, o Options, width int, blocks bool) error {
	var used []float64
	m := &textPlot{title: "history of " + cmp.Or(o.Objective, "value")}
	values := make([]float64, 0, len(steps))
	for _, s := range steps {
		if finite(float64(s.Value)) {
			values = append(values, float64(s.Value))
		}
	}
	limit := fence(values, o.Maximize)
	missing := [roles]int{}
	last := math.NaN()
	for i, s := range steps {
		x, v := float64(s.Trial), float64(s.Value)
		r := roleOf(s.State)
		switch {
		case !finite(v):
			missing[r]++
		case worse(v, limit, o.Maximize):
			missing[beyond]++
		default:
			used = append(used, v)
			if r == evaluation && !s.Feasible {
				m.infeasible = append(m.infeasible, [2]float64{x, v})
			} else {
				m.points = append(m.points, [2]float64{x, v})
			}
		}
		if b := float64(s.Best); finite(b) {
			used = append(used, b)
			if finite(last) && i > 0 {
				m.line = append(m.line, [3]float64{float64(steps[i-1].Trial), x, last})
			}
			last = b
		}
	}
	if finite(last) {
		n := len(steps) - 1
		m.line = append(m.line, [3]float64{float64(steps[n].Trial), float64(steps[n].Trial), last})
	}
	m.x, m.y = trialAxis(len(steps), lastTrial(steps)), valueAxis("", spansDecades(used), used...)
	m.legend = []string{"{mark} evaluation", "{line} best so far"}
	if len(m.infeasible) > 0 {
		m.legend = slices.Insert(m.legend, 1, "{other} infeasible")
	}
	for _, r := range []role{failure, lost, stopped, pending, beyond} {
		if missing[r] > 0 {
			m.legend = append(m.legend, fmt.Sprintf("%d %s", missing[r], r.word()))
		}
	}
	return m.write(w, width, blocks)
}

// word is the role in a legend of text.
func (r role) word() string {
	return map[role]string{failure: "failed", lost: "lost", stopped: "stopped early", pending: "pending", beyond: "too bad to show"}[r]
}

// HypervolumeText draws the hypervolume of several objectives in characters, as HistoryText does.
func HypervolumeText(w io.Writer, volumes []insight.Volume, o Options, width int, blocks bool) error {
	m := &textPlot{title: "hypervolume", legend: []string{"{line} hypervolume"}}
	values := []float64{0}
	for i, v := range volumes {
		end := float64(v.Trial)
		if i+1 < len(volumes) {
			end = float64(volumes[i+1].Trial)
		}
		m.line = append(m.line, [3]float64{float64(v.Trial), end, float64(v.Hypervolume)})
		values = append(values, float64(v.Hypervolume))
	}
	m.x, m.y = trialAxis(len(volumes), volumes[len(volumes)-1].Trial), valueAxis("", false, values...)
	return m.write(w, width, blocks)
}

// textPlot is a plot in characters.
type textPlot struct {
	title      string
	x, y       axis
	points     [][2]float64
	infeasible [][2]float64
	line       [][3]float64 // horizontal parts: from, to, value
	legend     []string
}

// glyphs are the characters of a plot.
type glyphs struct{ mark, other, line, side, corner, floor, tick string }

var (
	plainGlyphs = glyphs{"*", "x", "-", "|", "+", "-", "+"}
	blockGlyphs = glyphs{"•", "△", "━", "│", "└", "─", "┤"}
)

func (m *textPlot) write(w io.Writer, width int, blocks bool) error {
	g := plainGlyphs
	if blocks {
		g = blockGlyphs
	}
	labels := map[int]string{}
	gutter := 0
	for _, t := range m.y.ticks(textRows, func(string) vg.Length { return 3 }) {
		if t.label != "" {
			label := plainMinus(t.label, blocks)
			labels[m.row(t.at)] = label
			gutter = max(gutter, len([]rune(label)))
		}
	}
	columns := max(40, min(width, 100)) - gutter - 2
	cells := make([][]string, textRows)
	for i := range cells {
		cells[i] = strings.Split(strings.Repeat(" ", columns), "")
	}
	column := func(x float64) int { return min(columns-1, max(0, int(m.x.place(x)*float64(columns)))) }
	for _, l := range m.line {
		for k := column(l[0]); k <= column(l[1]); k++ {
			cells[m.row(l[2])][k] = g.line
		}
	}
	for _, p := range m.infeasible {
		cells[m.row(p[1])][column(p[0])] = g.other
	}
	for _, p := range m.points {
		cells[m.row(p[1])][column(p[0])] = g.mark
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", m.title)
	for i, row := range cells {
		side := g.side
		if _, ok := labels[i]; ok {
			side = g.tick
		}
		fmt.Fprintf(&b, "%*s %s%s\n", gutter, labels[i], side, strings.TrimRight(strings.Join(row, ""), " "))
	}
	fmt.Fprintf(&b, "%*s %s%s\n", gutter, "", g.corner, strings.Repeat(g.floor, columns))
	axis := []rune(strings.Repeat(" ", columns+8))
	for _, t := range m.x.ticks(vg.Length(columns), func(s string) vg.Length { return vg.Length(len([]rune(s)) + 3) }) {
		at := column(t.at) - len([]rune(t.label))/2
		for k, r := range []rune(t.label) {
			if at+k >= 0 && at+k < len(axis) {
				axis[at+k] = r
			}
		}
	}
	fmt.Fprintf(&b, "%*s  %s\n", gutter, "", strings.TrimRight(string(axis), " "))
	legend := strings.NewReplacer("{mark}", g.mark, "{other}", g.other, "{line}", g.line).Replace(strings.Join(m.legend, "   "))
	fmt.Fprintf(&b, "%*s  %s\n", gutter, "", legend)
	_, err := io.WriteString(w, b.String())
	return err
}

// row returns the row of a value, from the top.
func (m *textPlot) row(v float64) int {
	return min(textRows-1, max(0, int((1-m.y.place(v))*textRows)))
}

// plainMinus replaces the true minus sign in ASCII.
func plainMinus(s string, blocks bool) string {
	if blocks {
		return s
	}
	return strings.ReplaceAll(s, "−", "-")
}

// ImportanceText writes a line for each parameter: the total Sobol index as a bar with its number,
// the first-order index and the direction. Blocks are as in HistoryText.
func ImportanceText(w io.Writer, effects []insight.Effect, width int, blocks bool) error {
	longest := len("parameter")
	for _, e := range effects {
		longest = max(longest, min(30, len([]rune(e.Parameter))))
	}
	room := max(10, min(60, width-longest-32))
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %-*s  total  alone  effect\n", longest, "parameter", room, "part of the variance")
	for _, e := range effects {
		name := []rune(e.Parameter)
		if len(name) > 30 {
			name = append(name[:29], '~')
		}
		padded := string(name) + strings.Repeat(" ", longest-len(name))
		if !finite(float64(e.Total)) {
			fmt.Fprintf(&b, "%s  %s\n", padded, e.Undefined())
			continue
		}
		line := fmt.Sprintf("%s  %s  %5.2f  %5.2f  %s", padded, Bar(float64(e.Total), room, blocks), float64(e.Total), math.Max(0, float64(e.First)), e.Direction)
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Bar returns a bar for a part between 0 and 1, padded by blanks to a width. Blocks are as in HistoryText.
func Bar(part float64, width int, blocks bool) string {
	part = min(1, max(0, part))
	if !blocks {
		n := int(part*float64(width) + 0.5)
		return strings.Repeat("#", n) + strings.Repeat(" ", width-n)
	}
	n := int(part*float64(8*width) + 0.5)
	text := strings.Repeat("█", n/8)
	if n%8 > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[n%8])
	}
	return text + strings.Repeat(" ", width-len([]rune(text)))
}
