package prior

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// argument is a parsed key=value.
type argument struct {
	key    string
	at     int
	values []float64
	flag   bool
}

func (p *parser) arguments(kernel string, known []string) ([]argument, error) {
	if !p.take('(') {
		return nil, nil
	}
	var args []argument
	for {
		p.space()
		a := argument{at: p.at}
		a.key = p.word()
		switch {
		case a.key == "":
			return nil, p.fail(a.at, "expected an argument of %s, found %s", kernel, p.found())
		case len(known) == 0:
			return nil, p.fail(a.at, "%s takes no arguments", kernel)
		case !slices.Contains(known, a.key):
			return nil, p.fail(a.at, "%s has no argument %q%s", kernel, a.key, didyoumean.Hint(a.key, known))
		case slices.ContainsFunc(args, func(b argument) bool { return b.key == a.key }):
			return nil, p.fail(a.at, "%s is given twice", a.key)
		}
		if err := p.expect('='); err != nil {
			return nil, err
		}
		if err := p.value(&a); err != nil {
			return nil, err
		}
		args = append(args, a)
		if !p.take(',') {
			return args, p.expect(')')
		}
	}
}

func (p *parser) value(a *argument) error {
	p.space()
	a.at = p.at
	if a.key == "ard" {
		switch text := p.word(); text {
		case "true":
			a.flag = true
		case "false":
		default:
			p.at = a.at
			return p.fail(a.at, "ard is true or false, found %s", p.found())
		}
		return nil
	}
	list := p.take('[')
	for {
		v, err := p.number()
		if err != nil {
			return err
		}
		a.values = append(a.values, v)
		if !list {
			break
		}
		if !p.take(',') {
			if err := p.expect(']'); err != nil {
				return err
			}
			break
		}
	}
	if a.key == "depth" || a.key == "degree" {
		if v := a.values[0]; list || v != math.Trunc(v) || v > maxDepth {
			return p.fail(a.at, "%s is a whole number from 1 to %d", a.key, maxDepth)
		}
	}
	return nil
}

// fix returns k with the hyperparameters that an argument names fixed at its values: one
// for all inputs, one for each of the chosen inputs, or one for each column.
func (p *parser) fix(k Kernel, a argument, on *chosen) (Kernel, error) {
	f, ok := k.(fixable)
	if !ok {
		return nil, p.fail(a.at, "%s cannot be fixed", a.key)
	}
	fixed, want := f.fix(a.key, a.values)
	if want > 1 {
		fixed, want = f.fix(a.key, on.spread(a.values))
	}
	switch {
	case want == 1:
		return nil, p.fail(a.at, "%s is one number, not %d", a.key, len(a.values))
	case want != 0:
		if on != nil {
			want = len(on.sizes)
		}
		return nil, p.fail(a.at, "%s has %d values, want 1 or %d", a.key, len(a.values), want)
	}
	return fixed, nil
}

// inputIndex parses the index in "lengthscale[2]".
func inputIndex(name string) (j int, ok bool) {
	_, text, _ := strings.Cut(name, "[")
	text, _, ok = strings.Cut(text, "]")
	j, err := strconv.Atoi(text)
	return j, ok && err == nil
}
