package acquisition

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/random"
)

// An acquisition takes the parts of a Problem that its interfaces promise, and rejects the others.
func TestInterfacesOfAcquisitions(t *testing.T) {
	all := []Acquisition{
		Auto{}, EI{}, LCB{}, LogEI{}, LogNEHVI{Samples: 8}, LogNEI{Samples: 8}, LogNParEGO{Samples: 8},
		MES{Samples: 2}, PI{}, QEI{Samples: 8}, QLogEI{Samples: 8}, Thompson{},
	}
	for _, a := range all {
		t.Run(fmt.Sprintf("%T", a), func(t *testing.T) {
			_, several := a.(Several)
			_, feasible := a.(Feasible)
			_, logarithmic := a.(Logarithmic)
			_, auto := a.(Auto)

			p := constrainedToy(t, 0.01, 0)
			one := several && !auto // takes several objectives only
			if one {
				p = severalToy(t, 1)
			}
			_, err := a.Build(t.Context(), p, 1, random.New(1, "", 0))
			check(t, feasible, err, "constraints")

			_, err = a.Build(t.Context(), severalToy(t, 0), 1, random.New(1, "", 0))
			check(t, several, err, "several objectives")

			p = constrainedToy(t, 0.01, 0)
			p.Constraints = nil
			if one {
				p = severalToy(t, 0)
			}
			f, err := a.Build(t.Context(), p, 1, random.New(1, "", 0))
			require.NoError(t, err)
			p.LogWeight = f
			_, err = p.weigh(a, f)
			check(t, logarithmic, err, "a weight")
		})
	}
}

func severalToy(t *testing.T, constraints int) Problem { return several(t, 2, constraints, 2, 8, 1e-2) }

func check(t *testing.T, accepted bool, err error, what string) {
	t.Helper()
	if accepted {
		assert.NoError(t, err, what)
	} else {
		assert.ErrorIs(t, err, ErrProblem, what)
	}
}
