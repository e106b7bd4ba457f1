package main

import (
	"fmt"
	"strings"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// beliefs applies the flags --prior-mean, --optimum and --first.
func (c *runCmd) beliefs(d *study.Definition) error {
	if c.PriorMean != nil {
		d.PriorMean = *c.PriorMean
	}
	if c.Optimum == nil && c.First == nil {
		return nil
	}
	s, err := d.Space()
	if err != nil {
		return usageError{err}
	}
	if c.Optimum != nil {
		d.Optimum = map[string]loop.Belief{}
	}
	for _, text := range c.Optimum {
		name, b, err := parseBelief(s, text)
		if err != nil {
			return usagef("--optimum %s: %w", text, err)
		}
		if _, twice := d.Optimum[name]; twice {
			return usagef("--optimum: %s is given twice", name)
		}
		d.Optimum[name] = b
	}
	if c.First != nil {
		d.First = nil
	}
	for _, text := range c.First {
		words := strings.Fields(text)
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			words = []string{text}
		}
		values, err := parseValues(s, words)
		if err != nil {
			return usagef("--first: %w", err)
		}
		d.First = append(d.First, values)
	}
	return nil
}

// parseBelief reads NAME=AROUND:SPREAD or NAME=VALUE:PROBABILITY,…
func parseBelief(s *space.Space, text string) (string, loop.Belief, error) {
	const form = "want NAME=AROUND:SPREAD, or NAME=VALUE:PROBABILITY,… of a categorical"
	name, rest, ok := strings.Cut(text, "=")
	if !ok {
		return "", loop.Belief{}, fmt.Errorf("%s", form)
	}
	var p space.Parameter
	for _, q := range s.Parameters() {
		if q.Name == name {
			p = q
		}
	}
	b := loop.Belief{}
	if p.Kind == space.KindCategorical || p.Kind == space.KindBool {
		b.Values = map[string]float64{}
		for part := range strings.SplitSeq(rest, ",") {
			at := strings.LastIndex(part, ":")
			share, err := parseNumber(part[at+1:])
			if at < 0 || err != nil {
				return "", b, fmt.Errorf("%s", form)
			}
			if _, twice := b.Values[part[:at]]; twice {
				return "", b, fmt.Errorf("%s is given twice", part[:at])
			}
			b.Values[part[:at]] = share
		}
		return name, b, nil
	}
	around, spread, ok := strings.Cut(rest, ":")
	centre, err := parseNumber(around)
	width, err2 := parseNumber(spread)
	if !ok || err != nil || err2 != nil {
		return "", b, fmt.Errorf("%s", form)
	}
	if b.Around = centre; p.Log {
		b.Factor = width
	} else {
		b.Within = width
	}
	return name, b, nil
}
