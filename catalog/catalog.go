package catalog

import (
	"fmt"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/auto"
	"github.com/functionspace/bo/surrogate/dkl"
	"github.com/functionspace/bo/surrogate/dropout"
	"github.com/functionspace/bo/surrogate/ensemble"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/fvi"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/gwi"
	"github.com/functionspace/bo/surrogate/hmc"
	"github.com/functionspace/bo/surrogate/ibnn"
	"github.com/functionspace/bo/surrogate/laplace"
	"github.com/functionspace/bo/surrogate/mapnn"
	"github.com/functionspace/bo/surrogate/mfvi"
	"github.com/functionspace/bo/surrogate/rff"
	"github.com/functionspace/bo/surrogate/svgp"
	"github.com/functionspace/bo/surrogate/tfsvi"
	"github.com/functionspace/bo/surrogate/vip"
)

var (
	// ErrUnknown reports a name that is not in the catalog, or a key that a method
	// does not have.
	ErrUnknown = settings.ErrUnknown
	// ErrSetting reports a setting that is malformed, outside its range or none of
	// its allowed values.
	ErrSetting = surrogate.ErrSetting
)

// Entry is the name of a surrogate or an acquisition function with a one-line
// summary.
type Entry struct {
	Name, Summary string
}

type entry[T any] struct {
	Entry
	fresh func() T
}

var surrogates = []entry[surrogate.Model]{
	{Entry{"gp", "Gaussian process, exact up to 1500 observations"}, func() surrogate.Model { return &gp.Model{} }},
	{Entry{"fsp-laplace", "Bayesian neural network with a Gaussian-process prior over functions, by FSP-Laplace"}, func() surrogate.Model { return &fsplaplace.Model{} }},
	{Entry{"auto", "gp or fsp-laplace, selected by predictions of later observations"}, func() surrogate.Model { return &auto.Model{} }},
	{Entry{"gfsvi", "Bayesian neural network with a Gaussian-process prior over functions, by generalised variational inference"}, func() surrogate.Model { return &gfsvi.Model{} }},
	{Entry{"tfsvi", "Bayesian neural network by variational inference with a divergence between functions"}, func() surrogate.Model { return &tfsvi.Model{} }},
	{Entry{"gwi-net", "network with the uncertainty of a sparse Gaussian process, by Gaussian Wasserstein inference"}, func() surrogate.Model { return &gwi.Net{} }},
	{Entry{"gwi-svgp", "sparse Gaussian process, by Gaussian Wasserstein inference"}, func() surrogate.Model { return &gwi.SVGP{} }},
	{Entry{"fvi", "Bayesian neural network under any prior on functions that can be drawn from, by functional variational inference"}, func() surrogate.Model { return &fvi.Model{} }},
	{Entry{"svgp", "sparse variational Gaussian process, for many observations"}, func() surrogate.Model { return &svgp.Model{} }},
	{Entry{"laplace", "Bayesian neural network with a Gaussian prior on its weights, by the linearised Laplace approximation"}, func() surrogate.Model { return &laplace.Model{} }},
	{Entry{"dkl", "deep kernel learning: a Gaussian process on features of a neural network"}, func() surrogate.Model { return &dkl.Model{} }},
	{Entry{"rff", "Bayesian linear regression on random features of a kernel"}, func() surrogate.Model { return &rff.Model{} }},
	{Entry{"ibnn", "infinitely wide Bayesian neural network: a Gaussian process with the arc-cosine kernel"}, func() surrogate.Model { return &ibnn.Model{} }},
	{Entry{"ensemble", "deep ensemble of independently initialised networks"}, func() surrogate.Model { return &ensemble.Model{} }},
	{Entry{"map", "one network at a maximum of the posterior of its weights, without model uncertainty"}, func() surrogate.Model { return &mapnn.Model{} }},
	{Entry{"mfvi", "Bayesian neural network with independent Gaussian weights, by variational inference"}, func() surrogate.Model { return &mfvi.Model{} }},
	{Entry{"dropout", "neural network with Monte Carlo dropout"}, func() surrogate.Model { return &dropout.Model{} }},
	{Entry{"vip", "variational implicit process: linear regression on functions drawn from a Bayesian neural network"}, func() surrogate.Model { return &vip.Model{} }},
	{Entry{"hmc", "Bayesian neural network sampled by Hamiltonian Monte Carlo, a slow reference"}, func() surrogate.Model { return &hmc.Model{} }},
}

var acquisitions = []entry[acquisition.Acquisition]{
	{Entry{"auto", "logei if the fitted noise is small, else lognei; lognehvi or lognparego for several objectives"}, func() acquisition.Acquisition { return &acquisition.Auto{} }},
	{Entry{"logei", "logarithm of the expected improvement"}, func() acquisition.Acquisition { return &acquisition.LogEI{} }},
	{Entry{"lognei", "qlogei for noisy observations: improvement on the sampled best of the evaluated points"}, func() acquisition.Acquisition { return &acquisition.LogNEI{} }},
	{Entry{"ei", "expected improvement"}, func() acquisition.Acquisition { return &acquisition.EI{} }},
	{Entry{"pi", "probability of improvement"}, func() acquisition.Acquisition { return &acquisition.PI{} }},
	{Entry{"lcb", "lower confidence bound"}, func() acquisition.Acquisition { return &acquisition.LCB{} }},
	{Entry{"mes", "max-value entropy search: information about the minimum"}, func() acquisition.Acquisition { return &acquisition.MES{} }},
	{Entry{"ts", "Thompson sampling: the minimum of a function drawn from the posterior"}, func() acquisition.Acquisition { return &acquisition.Thompson{} }},
	{Entry{"qei", "expected improvement of a batch, by Monte Carlo"}, func() acquisition.Acquisition { return &acquisition.QEI{} }},
	{Entry{"qlogei", "logarithm of the smoothed expected improvement of a batch, by Monte Carlo"}, func() acquisition.Acquisition { return &acquisition.QLogEI{} }},
	{Entry{"lognehvi", "logarithm of the noisy expected hypervolume improvement of two to four objectives"}, func() acquisition.Acquisition { return &acquisition.LogNEHVI{} }},
	{Entry{"lognparego", "lognei of a random scalarisation of several objectives"}, func() acquisition.Acquisition { return &acquisition.LogNParEGO{} }},
}

// Surrogates lists the surrogates, the default first.
func Surrogates() []Entry { return list(surrogates) }

// Acquisitions lists the acquisition functions, the default first.
func Acquisitions() []Entry { return list(acquisitions) }

// Surrogate returns a surrogate with its defaults: a new pointer to the option
// struct of its package. The error wraps ErrUnknown.
func Surrogate(name string) (surrogate.Model, error) { return find("surrogate", surrogates, name) }

// Acquisition returns an acquisition function with its defaults: a new pointer to
// its option struct. The error wraps ErrUnknown.
func Acquisition(name string) (acquisition.Acquisition, error) {
	return find("acquisition", acquisitions, name)
}

// Names returns the names of entries.
func Names(entries []Entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

func list[T any](entries []entry[T]) []Entry {
	l := make([]Entry, len(entries))
	for i, e := range entries {
		l[i] = e.Entry
	}
	return l
}

func find[T any](what string, entries []entry[T], name string) (T, error) {
	names := make([]string, len(entries))
	for i, e := range entries {
		if e.Name == name {
			return e.fresh(), nil
		}
		names[i] = e.Name
	}
	var none T
	return none, fmt.Errorf("%w %s %q%s", ErrUnknown, what, name, didyoumean.Hint(name, names))
}
