package study

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/loop"
)

// Method returns the loop's options for a definition, or an error for a name or a
// setting that does not exist. The definition's space must be valid.
func (d *Definition) Method() (loop.Options, error) {
	m, err := catalog.NewMethod(cmp.Or(d.Surrogate.Name, catalog.Surrogates()[0].Name))
	if err != nil {
		return loop.Options{}, err
	}
	if err := m.Choose(cmp.Or(d.Acquisition.Name, catalog.Acquisitions()[0].Name)); err != nil {
		return loop.Options{}, err
	}
	for _, group := range []struct {
		prefix   string
		settings map[string]any
	}{{"", d.Surrogate.Settings}, {"acquisition.", d.Acquisition.Settings}, {"maximizer.", d.Maximizer}} {
		for _, key := range slices.Sorted(maps.Keys(group.settings)) {
			text, err := settingText(group.settings[key])
			if err != nil {
				return loop.Options{}, fmt.Errorf("%s%s: %w", group.prefix, key, err)
			}
			if err := m.Set(group.prefix + key + "=" + text); err != nil {
				return loop.Options{}, err
			}
		}
	}
	o := d.Objective()
	return loop.Options{
		Surrogate: m.Surrogate, Acquisition: m.Acquisition, Maximizer: m.Maximizer,
		Initial: d.Initial, Design: d.Design, Batch: d.Batch, Seed: d.Seed, Warp: d.Warp,
		Maximize: o.Goal == Maximize, NoiseFree: o.NoiseFree, Budget: d.Budget, Workers: d.Workers,
	}, nil
}

// settingText writes a setting's value as --set takes it.
func settingText(v any) (string, error) {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			part, err := settingText(v[i])
			if err != nil {
				return "", err
			}
			parts[i] = part
		}
		return strings.Join(parts, ","), nil
	case string, bool, json.Number, float64, int, uint64:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("want text, a number, true, false or a list of numbers")
}
