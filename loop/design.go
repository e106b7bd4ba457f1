package loop

import (
	"math"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// design returns the next k points of the design that are not in seen, and adds
// them to it. Blocks of Options.Initial points follow one another, each
// randomised by its own stream, so what comes next depends on seen alone. A
// finite space that has fewer than k points left repeats points.
func (s *Study) design(k, trial int, seen map[string]bool) []space.Point {
	out := make([]space.Point, 0, k)
	take := func(p space.Point) {
		if key := p.Key(); len(out) < k && !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	// Every point seen may hide one of a block; a finite space may have none
	// left that blocks come across.
	blocks := len(seen)/s.opts.Initial + k/s.opts.Initial + 8
	for b := 0; b < blocks && len(out) < k; b++ {
		s.eachOfBlock("design", b, take)
	}
	for len(out) < k && s.unseen(seen) > 0 {
		take(s.firstUnseen(trial, seen))
	}
	for b := 0; len(out) < k; b++ {
		s.eachOfBlock("repeat", trial+b, func(p space.Point) {
			if len(out) < k {
				out = append(out, p)
			}
		})
	}
	return out
}

func (s *Study) eachOfBlock(label string, index int, visit func(space.Point)) {
	block := designs[s.opts.Design](s.opts.Initial, s.space.Dim(), random.New(s.opts.Seed, label, index))
	for i := range s.opts.Initial {
		visit(s.space.Decode(block.RawRowView(i)))
	}
}

// unseen is the number of points of the space that are not in seen.
func (s *Study) unseen(seen map[string]bool) int {
	size, finite := s.space.Size()
	if !finite {
		return math.MaxInt
	}
	return size - len(seen)
}

// firstUnseen returns a point of a finite space that is not in seen: the first
// one in lexicographic order from a random start. There must be one; at most
// len(seen)+1 points are looked at.
func (s *Study) firstUnseen(trial int, seen map[string]bool) space.Point {
	size, _ := s.space.Size()
	i := random.New(s.opts.Seed, "unseen", trial).IntN(size)
	for {
		if p := s.pointAt(i); !seen[p.Key()] {
			return p
		}
		i = (i + 1) % size
	}
}

// pointAt returns the point of a finite space whose parameters are the digits
// of i, the last parameter running fastest.
func (s *Study) pointAt(i int) space.Point {
	params := s.space.Parameters()
	values := make(map[string]any, len(params))
	for j := len(params) - 1; j >= 0; j-- {
		switch p := params[j]; p.Kind {
		case space.KindInt:
			n := int(p.Max-p.Min) + 1
			values[p.Name] = p.Min + float64(i%n)
			i /= n
		case space.KindFixed:
			values[p.Name] = p.Value
		default:
			values[p.Name] = p.Values[i%len(p.Values)]
			i /= len(p.Values)
		}
	}
	p, err := s.space.PointOf(values)
	if err != nil {
		panic("loop: " + err.Error())
	}
	return p
}
