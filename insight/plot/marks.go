package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/internal/palette"
	"github.com/functionspace/bo/loop"
)

// role is a kind of mark with its look, the same in all pictures.
type role int

const (
	evaluation role = iota
	infeasible
	failure
	lost
	pending
	stopped
	incumbent
	beyond // a value outside the axis
	roles  // the number of roles
)

// look returns the entry of the legend of a role.
func (r role) look(t palette.Theme) entry {
	return [roles]entry{
		evaluation: {label: "evaluation", shape: dot, color: t.Evaluation},
		infeasible: {label: "infeasible", shape: triangle, color: t.Infeasible},
		failure:    {label: "failed", shape: cross, color: t.Failure},
		lost:       {label: "lost", shape: cross, color: t.Muted},
		pending:    {label: "pending", shape: ring, color: t.Pending},
		stopped:    {label: "stopped early", shape: square, color: t.Stopped},
		incumbent:  {label: "incumbent", shape: diamond, color: t.Incumbent},
		beyond:     {label: "beyond the axis", shape: triangle, color: t.Evaluation},
	}[r]
}

// roleOf returns the role of a trial.
func roleOf(s loop.State) role {
	switch s {
	case loop.Complete:
		return evaluation
	case loop.Pending:
		return pending
	case loop.Stopped:
		return stopped
	case loop.Lost:
		return lost
	}
	return failure
}

// entries returns the entries of the roles that occur, in the order of the roles.
func entries(t palette.Theme, used [roles]bool) []entry {
	var out []entry
	for r := range roles {
		if used[r] {
			out = append(out, r.look(t))
		}
	}
	return out
}

// markRole draws marks of a role.
func (g *graph) markRole(r role, points []vg.Point) {
	e := r.look(g.theme)
	radius := vg.Length(2.6)
	if len(points) > crowd {
		radius = 1.2
	}
	if r == failure || r == lost || r == pending || r == incumbent {
		radius = 3
	}
	if r == incumbent && len(points) > 20 {
		radius = 2.2
	}
	g.marks(points, e.shape, e.color, radius)
}

// line and band entries of the legend.
func lineEntry(label string, c color.NRGBA, dashes ...vg.Length) entry {
	return entry{label: label, shape: noMark, color: c, line: true, dashes: dashes}
}

func bandEntry(label string, c color.NRGBA) entry {
	return entry{label: label, shape: noMark, color: c, band: true}
}
