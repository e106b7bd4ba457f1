package benchmarks

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// ErrUnknown is wrapped by the error of Lookup.
var ErrUnknown = errors.New("unknown objective")

// MaxDim is the largest dimension that Lookup accepts.
const MaxDim = 1000

// fixed holds the objectives with a fixed dimension.
var fixed = map[string]func() Objective{
	"beale":                     Beale,
	"branin":                    Branin,
	"branin-currin":             BraninCurrin,
	"brusselator":               func() Objective { return Brusselator(0) },
	"constrained-branin-currin": ConstrainedBraninCurrin,
	"cosine8":                   Cosine8,
	"goldstein-price":           GoldsteinPrice,
	"hartmann3":                 Hartmann3,
	"hartmann6":                 Hartmann6,
	"polynomial":                Polynomial,
	"shekel":                    Shekel,
	"six-hump-camel":            SixHumpCamel,
}

// families holds the objectives of any dimension from 2.
var families = map[string]func(d int) Objective{
	"ackley":          Ackley,
	"c2-dtlz2":        C2DTLZ2,
	"dtlz2":           func(d int) Objective { return DTLZ2(d, 2) },
	"dtlz2-of-3":      func(d int) Objective { return DTLZ2(d, 3) },
	"griewank":        Griewank,
	"levy":            Levy,
	"michalewicz":     Michalewicz,
	"network":         func(d int) Objective { return NetworkDraw(d, 0) },
	"rastrigin":       Rastrigin,
	"rosenbrock":      Rosenbrock,
	"styblinski-tang": StyblinskiTang,
	"zdt1":            ZDT1,
}

// Names returns the names that Lookup accepts, sorted, families without a dimension.
func Names() []string {
	var names []string
	for name := range fixed {
		names = append(names, name)
	}
	for name := range families {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var withDim = regexp.MustCompile(`^(.*[a-z])-?([0-9]+)$`)

// Form returns the form of the names of an entry of Names: for a family with dimension, such as
// "10" or "N", at its place.
func Form(name, dimension string) string {
	if _, ok := families[name]; !ok {
		return name
	}
	base, suffix := name, ""
	if i := strings.Index(name, "-of-"); i >= 0 {
		base, suffix = name[:i], name[i:]
	}
	if last := base[len(base)-1]; '0' <= last && last <= '9' {
		base += "-"
	}
	return base + dimension + suffix
}

// family returns the family of a name with a dimension, and the dimension.
func family(name string) (of, dimension string, ok bool) {
	for of := range families {
		before, after, _ := strings.Cut(Form(of, "N"), "N")
		rest, a := strings.CutPrefix(name, before)
		rest, b := strings.CutSuffix(rest, after)
		if rest = strings.TrimPrefix(rest, "-"); a && b && digits.MatchString(rest) {
			return of, rest, true
		}
	}
	return "", "", false
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// Lookup returns the objective of a name. A family takes its dimension as Form writes it, or after
// a hyphen, as in ackley10, ackley-10 or dtlz2-6-of-3. It has two dimensions without it. The error for another
// name wraps ErrUnknown and suggests a near name.
func Lookup(name string) (Objective, error) {
	if f, ok := fixed[name]; ok {
		return f(), nil
	}
	if f, ok := families[name]; ok {
		return f(2), nil
	}
	if of, dimension, ok := family(name); ok {
		d, err := strconv.Atoi(dimension)
		if err != nil || d < 2 || d > MaxDim {
			return Objective{}, fmt.Errorf("%w %q: %s has 2 to %d dimensions", ErrUnknown, name, of, MaxDim)
		}
		return families[of](d), nil
	}
	hint := name
	if m := withDim.FindStringSubmatch(name); m != nil {
		if _, ok := fixed[didyoumean.Name(name, Names())]; !ok {
			hint = m[1]
		}
	}
	return Objective{}, fmt.Errorf("%w %q%s", ErrUnknown, name, didyoumean.Hint(hint, Names()))
}
