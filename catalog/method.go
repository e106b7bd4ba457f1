package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// ErrSetting reports a setting that is not written key=value.
var ErrSetting = errors.New("bad setting")

// A Method is a surrogate and, for a search, what chooses points by it.
type Method struct {
	Surrogate   surrogate.Model
	Acquisition acquisition.Acquisition // nil before Choose
	Maximizer   acquisition.MaximizeOptions

	// Owners are the option structs that Set reaches: the surrogate's, then the
	// acquisition's and the maximiser's.
	Owners []Owner
}

// An Owner is an option struct whose keys begin with Prefix.
type Owner struct {
	Prefix  string // "", "acquisition." or "maximizer."
	Name    string // such as "surrogate gp"
	Options any
}

// NewMethod returns the named surrogate alone.
func NewMethod(name string) (*Method, error) {
	model, err := Surrogate(name)
	if err != nil {
		return nil, err
	}
	return &Method{Surrogate: model, Owners: []Owner{{"", "surrogate " + name, model}}}, nil
}

// Choose lets the named acquisition choose points.
func (m *Method) Choose(name string) error {
	a, err := Acquisition(name)
	if err != nil {
		return err
	}
	m.Acquisition = a
	m.Owners = append(m.Owners[:1],
		Owner{"acquisition.", "acquisition " + name, a},
		Owner{"maximizer.", "maximizer", &m.Maximizer})
	return nil
}

// Set reads key=value. The error wraps ErrSetting or an error of package settings.
func (m *Method) Set(pair string) error {
	key, text, _ := strings.Cut(pair, "=")
	key, text = strings.TrimSpace(key), strings.TrimSpace(text)
	if key == "" || text == "" {
		return fmt.Errorf("%w %q: want key=value", ErrSetting, pair)
	}
	to := m.Owners[0]
	for _, o := range m.Owners[1:] {
		if strings.HasPrefix(key, o.Prefix) {
			to = o
		}
	}
	bare := strings.TrimPrefix(key, to.Prefix)
	err := settings.Set(to.Options, bare, text)
	if errors.Is(err, settings.ErrUnknown) {
		for _, o := range m.Owners {
			if slices.ContainsFunc(settings.List(o.Options), func(s settings.Setting) bool { return s.Key == bare }) {
				return fmt.Errorf("%s: %w %q: did you mean %s%s?", to.Name, settings.ErrUnknown, bare, o.Prefix, bare)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", to.Name, err)
	}
	return nil
}

// A checker is a model that knows whether its settings make sense for dim inputs;
// a stated one knows it of the prior in them.
type (
	checker interface{ Check(dim int) error }
	stated  interface {
		Process(dim int) (prior.Process, error)
	}
)

// Check reports settings that fail whatever the data of dim inputs.
func (m *Method) Check(ctx context.Context, dim int) error {
	var err error
	switch model := m.Surrogate.(type) {
	case checker:
		err = model.Check(dim)
	case stated:
		_, err = model.Process(dim)
	}
	if err != nil || m.Acquisition == nil {
		return named(m.Owners[0].Name, err)
	}
	for key, value := range map[string]int{"raw": m.Maximizer.Raw, "starts": m.Maximizer.Starts, "iterations": m.Maximizer.MaxIter} {
		if value < 0 || value > maxEffort {
			return fmt.Errorf("maximizer: %w %s=%d: want 1 to %d", settings.ErrValue, key, value, maxEffort)
		}
	}
	return m.rehearse(ctx)
}

// maxEffort bounds the settings of the maximiser: far more would take all memory.
const maxEffort = 100_000

// rehearse makes one suggestion from one observation of one input.
func (m *Method) rehearse(ctx context.Context) error {
	line, err := space.New(space.Float("x", 0, 1))
	if err != nil {
		return err
	}
	one := surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0.5}), Y: []float64{0}}
	posterior, err := gp.Model{}.Fit(ctx, one, random.New(0, "rehearsal", 0))
	if err != nil {
		return err
	}
	problem := acquisition.Problem{Posterior: posterior, Observed: one.X}
	_, err = acquisition.Suggest(ctx, m.Acquisition, problem, line, 1, m.Maximizer, random.New(0, "rehearsal", 1))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return named(m.Owners[1].Name, err)
}

// named begins err with the name of an owner such as "surrogate gp", and drops
// its own "gp: ".
func named(owner string, err error) error {
	if err == nil {
		return nil
	}
	kind, name, _ := strings.Cut(owner, " ")
	if strings.HasPrefix(err.Error(), name+": ") {
		return fmt.Errorf("%s %w", kind, err)
	}
	return fmt.Errorf("%s: %w", owner, err)
}
