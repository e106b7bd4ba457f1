package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

type enqueueCmd struct {
	storeFlags
	Study    string   `arg:"" complete:"studies" help:"Name of the study."`
	Values   []string `arg:"" optional:"" help:"A value for every parameter, NAME=VALUE, or one JSON object."`
	Again    int      `min:"1" default:"0" placeholder:"TRIAL" help:"Take values that are left out from TRIAL: without values, to measure it again."`
	Complete bool     `help:"Draw values that are left out at random."`
	Key      string   `placeholder:"TEXT" help:"Name of the request. A repeated request with the same name changes nothing."`
	JSON     bool     `group:"result" name:"json" help:"Print the stored trial as JSON."`
}

func (enqueueCmd) Help() string {
	return `Examples:

    bo enqueue bread degrees=210 minutes=50
    bo enqueue bread --again 7
    bo enqueue bread --again 7 minutes=40`
}

func (c *enqueueCmd) Run(e *env) error {
	if len(c.Values) == 0 && c.Again == 0 {
		return usagef("the values are missing: give NAME=VALUE for every parameter, or --again TRIAL")
	}
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		d, sp, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		values, err := parseValues(sp, c.Values)
		if err != nil {
			return usageError{err}
		}
		if c.Again > 0 {
			if values, err = c.repeat(e, u, sp, values); err != nil {
				return err
			}
		}
		if c.Complete {
			if values, err = completed(e.ctx, u, d, sp, values); err != nil {
				return asUsage(err, space.ErrPoint)
			}
		}
		trials, err := u.Enqueue(e.ctx, c.Key, values)
		if err != nil {
			return asRefusal(asUsage(err, space.ErrPoint), store.ErrBudget)
		}
		if c.JSON {
			return printJSON(e.stdout, newTrialJSON(&trials[0], &store.View{Definition: d}))
		}
		_, err = fmt.Fprintf(e.stdout, "trial %d  %s  waits\n", trials[0].Number, fullParams(trials[0].Params))
		return err
	})
}

// repeat returns values with the values of the trial of --again for the active parameters that are left out.
func (c *enqueueCmd) repeat(e *env, u *store.Study, sp *space.Space, values map[string]any) (map[string]any, error) {
	v, err := u.Brief(e.ctx)
	if err != nil {
		return nil, err
	}
	if c.Again > len(v.Trials) {
		return nil, usagef("study %s: no such trial: %d, the last one is %d", c.Study, c.Again, len(v.Trials))
	}
	trial := v.Points[c.Again-1]
	if trial.Space() == nil {
		return nil, usagef("study %s: trial %d: %w", c.Study, c.Again, v.Fault(c.Again-1))
	}
	p, err := sp.PointWith(values, trial.Map())
	if err == nil {
		return p.Map(), nil
	}
	if !c.Complete {
		return nil, usagef("study %s: %w", c.Study, err)
	}
	all := trial.Map()
	maps.Copy(all, values)
	return all, nil
}

// completed returns values of all active parameters of a point.
func completed(ctx context.Context, u *store.Study, d *study.Definition, s *space.Space, values map[string]any) (map[string]any, error) {
	row, err := u.Summary(ctx)
	if err != nil {
		return nil, err
	}
	p, err := d.Complete(s, values, row.Trials)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", u.Name(), err)
	}
	return p.Map(), nil
}

// parseValues reads NAME=VALUE words, or one JSON object. Text that a categorical parameter
// lists as a number or boolean is read as such.
func parseValues(s *space.Space, words []string) (map[string]any, error) {
	values := map[string]any{}
	if len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{") {
		if err := json.Unmarshal([]byte(words[0]), &values); err != nil {
			return nil, fmt.Errorf("%s is not a JSON object: %w", brief(words[0]), err)
		}
		if err := strictjson.Repeated([]byte(words[0])); err != nil {
			return nil, fmt.Errorf("%s: %w", brief(words[0]), err)
		}
		return values, nil
	}
	kinds := map[string]space.Parameter{}
	for _, p := range s.Parameters() {
		kinds[p.Name] = p
	}
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%s: want NAME=VALUE", brief(w))
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		p, known := kinds[name]
		v := valueOf(p, text)
		if _, isText := v.(string); known && isText && (p.Kind == space.KindFloat || p.Kind == space.KindInt) {
			return nil, fmt.Errorf("the value is %s: %s is %s, want a number such as 12.6", brief(w), name, brief(text))
		}
		values[name] = v
	}
	return values, nil
}

// valueOf reads the text of a parameter's value.
func valueOf(p space.Parameter, text string) any {
	if p.Check(text) == nil {
		return text
	}
	if y, err := parseNumber(text); err == nil && (p.Kind == space.KindFloat || p.Kind == space.KindInt || p.Check(y) == nil) {
		return y
	}
	if b, err := strconv.ParseBool(text); err == nil && p.Check(b) == nil {
		return b
	}
	return text
}
