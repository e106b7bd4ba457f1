package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space/expression"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// stateFile is a file of bo run --state: the arguments of the run and the study as
// loop.Study.Save writes it.
type stateFile struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	Arguments []struct {
		Flag  string `json:"flag"`
		Value string `json:"value"`
	} `json:"arguments"`
	Study json.RawMessage `json:"study"`
}

// savedStudy is the part of a saved study that its definition depends on.
type savedStudy struct {
	Space   json.RawMessage `json:"space"`
	Options struct {
		Surrogate   string             `json:"surrogate"`
		Acquisition string             `json:"acquisition"`
		Initial     int                `json:"initial"`
		Design      loop.InitialDesign `json:"design"`
		Batch       int                `json:"batch"`
		Warp        loop.Warp          `json:"warp"`
		Local       loop.Local         `json:"local"`
		Seed        uint64             `json:"seed"`
		Maximize    bool               `json:"maximize"`
		NoiseFree   bool               `json:"noise_free"`
		NoiseSD     float64            `json:"noise_sd"`
		Error       string             `json:"standard_error"`
		Objectives  []loop.Goal        `json:"objectives"`
		Require     []loop.Requirement `json:"require"`

		Optimum   map[string]loop.Belief `json:"optimum"`
		PriorMean string                 `json:"prior_mean"`
		First     []map[string]any       `json:"first"`

		Maximizer acquisition.MaximizeOptions `json:"maximizer"`
	} `json:"options"`
	Queue []json.RawMessage `json:"queue"`
	Warm  surrogate.State   `json:"warm"`
}

// readState reads a file of bo run --state, or of loop.Study.Save alone.
func readState(r io.Reader) (*Import, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var f stateFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, cut(err)
	}
	if f.Format == "bo-study" {
		f.Study = text
	} else if f.Version != 1 {
		return nil, fmt.Errorf("a state of version %d, want 1", f.Version)
	}
	var saved savedStudy
	if err := json.Unmarshal(f.Study, &saved); err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	in := &Import{Snapshot: &store.Snapshot{}}
	d, err := in.stateDefinition(&f, &saved)
	if err != nil {
		return nil, err
	}
	o, err := d.Method()
	if err != nil {
		return nil, err
	}
	o.Batch = saved.Options.Batch
	sp, err := d.Space()
	if err != nil {
		return nil, err
	}
	u, err := loop.ResumeIn(bytes.NewReader(f.Study), sp, o)
	if err != nil {
		return nil, err
	}
	trials := u.Trials()
	if len(trials) > loop.DefaultBudget || d.Initial > loop.DefaultBudget {
		d.Budget = min(max(len(trials), d.Initial), study.MaxCount)
	}
	in.note("the file does not hold the run's budget: it is %d trials", max(d.Budget, loop.DefaultBudget))
	return in, in.stateTrials(d, u, trials, &saved)
}

// stateDefinition returns the definition equivalent to the arguments and the saved options.
func (in *Import) stateDefinition(f *stateFile, saved *savedStudy) (*study.Definition, error) {
	s, err := expression.Parse(saved.Space)
	if err != nil {
		return nil, err
	}
	o := &saved.Options
	d := &study.Definition{
		Version: study.Version, Initial: o.Initial, Seed: o.Seed, Design: o.Design, Warp: o.Warp, Local: o.Local,
		Objectives: saved.objectives(), Optimum: o.Optimum, PriorMean: o.PriorMean, First: o.First,
	}
	d.Parameters, d.Constraints = study.SpaceOf(s)
	for _, r := range o.Require {
		d.Require = append(d.Require, r.String())
	}
	if o.Maximizer, err = settings.Resolve("maximizer", o.Maximizer); err != nil {
		return nil, err
	}
	for _, m := range settings.List(&o.Maximizer) {
		if value, err := settings.Get(&o.Maximizer, m.Key); err == nil && value != m.Default {
			setSetting(&d.Maximizer, m.Key, value)
		}
	}
	if o.Batch > 1 {
		d.Batch = o.Batch
	}
	var sets [][2]string
	for _, a := range f.Arguments {
		switch {
		case a.Flag == "--objective":
			d.Builtin = a.Value
		case a.Flag == "--command":
			d.Command = a.Value
		case a.Flag == "--shell":
			d.Shell = a.Value == "true"
		case a.Flag == "--surrogate":
			d.Surrogate.Name = a.Value
		case a.Flag == "--acquisition":
			d.Acquisition.Name = a.Value
		case strings.HasPrefix(a.Flag, "--set "):
			sets = append(sets, [2]string{strings.TrimPrefix(a.Flag, "--set "), a.Value})
		}
	}
	if d.Surrogate.Name == "" {
		if err := in.byType(d, o.Surrogate, o.Acquisition); err != nil {
			return nil, err
		}
	}
	return d, in.stateSettings(d, sets)
}

// objectives returns the objectives; a single one is named "value".
func (s *savedStudy) objectives() []study.Objective {
	goals := s.Options.Objectives
	if len(goals) == 0 {
		o := &s.Options
		goals = []loop.Goal{{Name: "value", Maximize: o.Maximize, NoiseFree: o.NoiseFree, NoiseSD: o.NoiseSD, StandardError: o.Error}}
	}
	objectives := make([]study.Objective, len(goals))
	for i, g := range goals {
		objectives[i] = study.Objective{Name: g.Name, NoiseFree: g.NoiseFree, StandardError: g.StandardError, Reference: g.Reference}
		if g.Maximize {
			objectives[i].Goal = study.Maximize
		}
		if g.NoiseSD != 0 {
			objectives[i].NoiseSD = &g.NoiseSD
		}
	}
	return objectives
}

// byType returns the surrogate and the acquisition function of a study that a Go program
// saved.
func (in *Import) byType(d *study.Definition, model, acquisition string) error {
	for _, e := range catalog.Surrogates() {
		if m, err := catalog.Surrogate(e.Name); err == nil && typeName(m) == model && d.Surrogate.Name == "" {
			d.Surrogate.Name = e.Name
		}
	}
	for _, e := range catalog.Acquisitions() {
		if a, err := catalog.Acquisition(e.Name); err == nil && typeName(a) == acquisition && d.Acquisition.Name == "" {
			d.Acquisition.Name = e.Name
		}
	}
	if d.Surrogate.Name == "" || d.Acquisition.Name == "" {
		return fmt.Errorf("the study was saved with surrogate %s and acquisition %s, which have no name in bo", model, acquisition)
	}
	in.note("the file does not hold the settings of surrogate %s and acquisition %s: they are the defaults", d.Surrogate.Name, d.Acquisition.Name)
	return nil
}

func typeName(v any) string { return strings.TrimPrefix(fmt.Sprintf("%T", v), "*") }

// stateSettings puts the settings that differ from their defaults into d.
func (in *Import) stateSettings(d *study.Definition, sets [][2]string) error {
	m, err := catalog.NewMethod(d.Surrogate.Name)
	if err == nil {
		err = m.Choose(d.Acquisition.Name)
	}
	if err != nil {
		return err
	}
	unset := map[string][2]string{} // the value, and the default of a switch
	for _, o := range m.Settings() {
		unset[o.Key] = [2]string{o.Value, o.Value}
		if o.Default == "false" {
			unset[o.Key] = [2]string{o.Value, o.Default}
		}
	}
	for _, set := range sets {
		if values, ok := unset[set[0]]; ok && (values[0] == set[1] || values[1] == set[1]) {
			continue
		}
		if err := m.Set(set[0] + "=" + set[1]); err != nil {
			in.note("a setting is left out: %v", err)
			continue
		}
		prefix, key := "", set[0]
		if group, rest, ok := strings.Cut(key, "."); ok {
			prefix, key = group+".", rest
		}
		setSetting(map[string]*map[string]any{"": &d.Surrogate.Settings, "acquisition.": &d.Acquisition.Settings, "maximizer.": &d.Maximizer}[prefix], key, set[1])
	}
	return nil
}

// setSetting sets a setting of a group to the value of a text.
func setSetting(group *map[string]any, key, text string) {
	if *group == nil {
		*group = map[string]any{}
	}
	(*group)[key] = settingValue(text)
}

// settingValue converts the text of a setting to a JSON value.
func settingValue(text string) any {
	if v, err := strconv.ParseBool(text); err == nil && len(text) > 1 {
		return v
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) && json.Valid([]byte(text)) {
		return json.Number(text)
	}
	return text
}

// stateTrials converts the trials, the queue and the warm start to rows of a store.
func (in *Import) stateTrials(d *study.Definition, u *loop.Study, trials []loop.Trial, saved *savedStudy) error {
	s := in.Snapshot
	s.Definition = d
	for _, t := range trials {
		params, err := json.Marshal(t.Point)
		if err != nil {
			return err
		}
		row := store.Trial{
			Number: t.ID, Params: params, Source: t.Source, State: store.State(t.State), Message: t.Error,
			Warnings: t.Warnings, Seconds: t.EvaluateSeconds,
		}
		if t.Source != loop.Added {
			row.Attempt = 1
		}
		steps := stateSteps(&t, row.Attempt, d.Objective())
		switch t.State {
		case loop.Complete:
			row.Numbers = maps.Clone(t.Numbers)
			setNumber(&row, d.Objective().Name, t.Value)
		case loop.Stopped:
			row.Numbers = map[string]float64{"value": last(steps)}
		case loop.Failed:
			row.Failure = store.FailedByProgram
		case loop.Lost:
			row.State, row.Failure = store.Failed, store.Lost
		}
		s.Steps = append(s.Steps, steps...)
		if p := t.Prediction; p != nil {
			row.Prediction = &study.Prediction{Mean: finite(p.Mean), SD: finite(p.SD), Acquisition: finite(p.Acquisition), Interval: p.Interval, Selection: p.Selection}
		}
		s.Trials = append(s.Trials, row)
	}
	for i, raw := range saved.Queue {
		var values map[string]any
		if err := json.Unmarshal(raw, &values); err != nil {
			return fmt.Errorf("queued point %d: %w", i+1, err)
		}
		p, err := u.Space().PointOf(values)
		if err != nil {
			return fmt.Errorf("queued point %d: %w", i+1, err)
		}
		params, err := json.Marshal(p)
		if err != nil {
			return err
		}
		s.Trials = append(s.Trials, store.Trial{Number: len(s.Trials) + 1, Params: params, Source: loop.Enqueued, State: store.Pending})
	}
	if saved.Warm != nil {
		warm, err := json.Marshal(saved.Warm)
		if err != nil {
			return errors.Join(errors.New("warm"), err)
		}
		s.Fits, s.Warm = []store.Fit{{Number: 1, Warm: warm}}, 1
	}
	return nil
}

// stateSteps returns the steps of a trial. A value that is not usable is the worst one.
func stateSteps(t *loop.Trial, attempt int, o study.Objective) []store.Step {
	worst := loop.MaxValue
	if o.Goal == study.Maximize {
		worst = -worst
	}
	var steps []store.Step
	for _, k := range t.Steps {
		if !(math.Abs(k.Value) <= loop.MaxValue) {
			k.Value = worst
		}
		steps = append(steps, store.Step{Trial: t.ID, Attempt: attempt, Step: k.Step, Name: o.Name, Value: k.Value})
	}
	return steps
}

// last returns the value at the largest step.
func last(steps []store.Step) float64 {
	return slices.MaxFunc(steps, func(a, b store.Step) int { return cmp.Compare(a.Step, b.Step) }).Value
}

// finite returns a pointer to v, or nil if v is not finite.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
