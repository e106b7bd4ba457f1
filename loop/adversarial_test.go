package loop

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/laplace"
	"github.com/functionspace/bo/surrogate/rff"
)

// adversarialSpaces are spaces with extreme ranges, conditions and constraints.
func adversarialSpaces(t *testing.T) map[string]*space.Space {
	bools := make([]space.Parameter, 12)
	for i := range bools {
		bools[i] = space.Bool(string(rune('a' + i)))
	}
	up := func(x float64, n int) float64 {
		for range n {
			x = math.Nextafter(x, math.Inf(1))
		}
		return x
	}
	return map[string]*space.Space{
		"three floats":       newRestricted(t, []space.Parameter{space.Float("x", 1, up(1, 2)), space.Float("y", -1e-300, 1e-300)}),
		"offset":             newRestricted(t, []space.Parameter{space.Float("x", 1e15, 1e15+8), space.Int("n", 1_000_000_000_000_000, 1_000_000_000_000_007), space.StepFloat("s", 1e14, 1e14+3, 1)}),
		"awkward steps":      newRestricted(t, []space.Parameter{space.StepFloat("s", 0.1, 1, 0.3), space.StepInt("n", -7, 13, 5), space.StepFloat("tiny", 0, 1.2e-12, 3e-13)}),
		"300 decades":        newRestricted(t, []space.Parameter{space.LogFloat("x", 1e-150, 1e150), space.LogInt("n", 1, 1<<40), space.LogFloat("y", 5e-300, 1e300)}),
		"one value":          newRestricted(t, []space.Parameter{space.Categorical("c", "only", "other"), space.Fixed("f", 1), space.Int("n", 3, 4), space.Ordinal("o", 1, 2)}),
		"four levels":        newRestricted(t, []space.Parameter{space.Bool("a"), when(space.Bool("b"), "a"), when(space.Int("c", 0, 3), "b"), when(space.Float("d", 0, 1), "c >= 2"), when(space.LogFloat("e", 1e-9, 1), "d > 0.5"), space.Float("x", 0, 1)}, "e < 1e-3 or x < 0.5"),
		"1e-4 of the volume": newRestricted(t, []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1), space.Float("z", 0, 1)}, "abs(x - y * y) < 0.005", "abs(z - x) < 0.005"),
		"booleans":           newRestricted(t, bools, "a or b or c", "not (d and e)"),
	}
}

// Extreme spaces are searched with every kind of surrogate: all points belong to the space, no
// point of a finite space is repeated, and values of extreme sizes end no study.
func TestAdversarialSpaces(t *testing.T) {
	racetest.SkipNumerical(t)
	models := map[string]surrogate.Model{"gp": gp.Model{}, "rff": rff.Model{Features: 32}, "laplace": laplace.Model{}}
	if testing.Short() {
		models = map[string]surrogate.Model{"gp": gp.Model{}}
	}
	for name, sp := range adversarialSpaces(t) {
		for model, m := range models {
			t.Run(name+"/"+model, func(t *testing.T) {
				s := newStudy(t, sp, Options{Surrogate: m, Initial: 5, Seed: 2, NoiseFree: true, Maximizer: acquisition.MaximizeOptions{Raw: 32, Starts: 2, Iterations: 10}})
				trials := 11 // six suggestions
				if size, finite := sp.Size(); finite && size <= 20 {
					trials = sp.Count()
				}
				seen := map[string]bool{}
				for len(seen) < trials {
					trials, err := s.Ask(t.Context(), 1)
					require.NoError(t, err)
					p := trials[0].Point
					q, err := sp.PointOf(p.Map())
					require.NoError(t, err)
					require.Equal(t, p.Key(), q.Key())
					again := sp.Decode(sp.Encode(p))
					for i, par := range sp.Parameters() {
						if p.Active(par.Name) && (par.Kind != space.KindFloat || par.Step > 0) {
							require.Equal(t, p.Code(i), again.Code(i), "%s at %v", par.Name, p)
						}
					}
					require.False(t, seen[p.Key()], "%v is repeated", p)
					seen[p.Key()] = true
					y, err := score(t.Context(), p)
					require.NoError(t, err)
					require.NoError(t, s.Tell(trials[0].ID, min(y, MaxValue)))
				}
			})
		}
	}
}
