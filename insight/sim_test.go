package insight

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

func TestSim(t *testing.T) {
	if os.Getenv("SIM") == "" {
		t.Skip()
	}
	s, _ := space.New(space.Float("a", 0, 1), space.Float("b", 0, 1))
	for _, kern := range []string{"matern52", "rbf"} {
		for _, l := range []float64{0.15, 0.3, 0.6} {
			for _, noise := range []float64{0.001, 0.01, 0.1} {
				for _, what := range []string{"noise", "length"} {
					for _, fac := range []float64{0.25, 0.5, 1, 2, 4} {
						var lr, chi []float64
						for seed := range 20 {
							rng := random.New(uint64(1000+seed), "sim", 0)
							k := prior.Scale(prior.Matern52(2))
							if kern == "rbf" {
								k = prior.Scale(prior.RBF(2))
							}
							pr := prior.Process{Kernel: k.WithParams([]float64{1, l, l}), Noise: noise}
							x := space.Sobol(60, 2, rng)
							cov := mat.NewSymDense(60, nil)
							pr.Covariance(cov, x)
							c, err := linalg.Factorize(cov)
							if err != nil {
								t.Fatal(err)
							}
							y := make([]float64, 60)
							random.Normal(y, rng)
							c.MulLowerVec(y)
							sd := stat.StdDev(y, nil)
							spec := prior.Spec{Kernel: kern}
							n := noise / sd / sd
							ll := []float64{l * fac}
							n2 := n * fac
							if what == "noise" {
								spec.Noise = &n2
							} else {
								spec.Lengthscale = ll
							}
							var trials []loop.Trial
							for i := range y {
								trials = append(trials, loop.Trial{ID: i + 1, Point: s.Decode(x.RawRowView(i)), State: loop.Complete, Value: y[i]})
							}
							v, err := loop.Inspect(t.Context(), s, loop.Options{Surrogate: gp.Model{Spec: spec}}, loop.History{Trials: trials})
							if err != nil {
								t.Fatal(err)
							}
							free := prior.Spec{Kernel: kern}
							q, err := gp.Model{Spec: free}.Fit(t.Context(), v.Data, random.New(0, "x", 0))
							if err != nil {
								t.Fatal(err)
							}
							lr = append(lr, q.(surrogate.Evidence).LogMarginalLikelihood()-v.Posterior.(surrogate.Evidence).LogMarginalLikelihood())
							e := make([]float64, 60)
							v.Posterior.(surrogate.Whitener).Whiten(e)
							var ss float64
							for _, v := range e {
								ss += v * v
							}
							chi = append(chi, ss)
						}
						slices.Sort(lr)
						slices.Sort(chi)
						fmt.Printf("%s l=%v noise=%v %s x%v: lr min %.1f 5%%:%.1f med %.1f 95%%:%.1f max %.1f  chi med %.0f\n", kern, l, noise, what, fac, lr[0], lr[1], lr[10], lr[18], lr[19], chi[10])
						_ = math.Pi
					}
				}
			}
		}
	}
}
