package katib

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	api "github.com/functionspace/bo/api/katib/v1beta1"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
)

// experiment is an experiment of Katib as a study.
type experiment struct {
	study      *study.Definition
	parameters []parameter
}

// limits of an experiment.
const (
	maxParameters = 200
	maxTrials     = 10_000
)

// newExperiment returns the study of an experiment, or an error about it.
func newExperiment(e *api.Experiment) (*experiment, error) {
	spec := e.GetSpec()
	objective := study.Objective{Name: spec.GetObjective().GetObjectiveMetricName()}
	switch spec.GetObjective().GetType() {
	case api.ObjectiveType_MINIMIZE:
		objective.Goal = study.Minimize
	case api.ObjectiveType_MAXIMIZE:
		objective.Goal = study.Maximize
	default:
		return nil, errors.New("objective: type is missing, want minimize or maximize")
	}
	list := spec.GetParameterSpecs().GetParameters()
	switch {
	case objective.Name == "":
		return nil, errors.New("objective: objectiveMetricName is missing")
	case spec.NasConfig != nil:
		return nil, errors.New("nasConfig: bo does not search architectures: state parameters instead")
	case len(list) == 0:
		return nil, errors.New("parameters are missing")
	case len(list) > maxParameters:
		return nil, fmt.Errorf("%d parameters, want at most %d", len(list), maxParameters)
	}
	out := &experiment{study: &study.Definition{Version: study.Version, Objectives: []study.Objective{objective}}}
	for _, s := range list {
		p, err := parameterOf(s)
		if err != nil {
			return nil, err
		}
		out.parameters = append(out.parameters, p)
		out.study.Parameters = append(out.study.Parameters, p.Parameter)
		if p.belief != nil {
			if out.study.Optimum == nil {
				out.study.Optimum = map[string]loop.Belief{}
			}
			out.study.Optimum[p.Name] = *p.belief
		}
	}
	if err := out.settings(spec.GetAlgorithm().GetAlgorithmSettings()); err != nil {
		return nil, err
	}
	if err := out.study.Validate(); err != nil {
		return nil, err
	}
	for _, name := range out.study.Declared() {
		if name != objective.Name && !slices.Contains(spec.GetObjective().GetAdditionalMetricNames(), name) {
			return nil, fmt.Errorf("algorithm setting require: %q is not among additionalMetricNames, and Katib collects no other metrics", name)
		}
	}
	return out, nil
}

// sameSettings are the names that other algorithms of Katib have for settings of a study.
var sameSettings = map[string]string{"random_state": "seed", "n_initial_points": "initial"}

// studySettings are the settings of the study; all others are settings of the surrogate model.
var studySettings = []string{"seed", "initial", "design", "warp", "local"}

// settings reads the settings of the algorithm. The last setting of a name counts, as in Katib.
func (e *experiment) settings(list []*api.AlgorithmSetting) error {
	d := e.study
	var options loop.Options
	for _, s := range list {
		name, text := strings.TrimSpace(s.GetName()), strings.TrimSpace(s.GetValue())
		name = cmp.Or(sameSettings[name], name)
		if name == "" || text == "" {
			return fmt.Errorf("algorithm setting %q: the name or the value is empty", s.GetName())
		}
		to, key := &d.Surrogate.Settings, name
		switch rest, ofAcquisition := strings.CutPrefix(name, "acquisition."); {
		case name == "surrogate":
			d.Surrogate.Name = text
			continue
		case name == "acquisition":
			d.Acquisition.Name = text
			continue
		case name == "require":
			d.Require = split(text)
			continue
		case name == "constraints":
			d.Constraints = split(text)
			continue
		case name == "noise_sd":
			sd, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("algorithm setting noise_sd is %q, want a positive number", text)
			}
			d.Objectives[0].NoiseSD = &sd
			continue
		case slices.Contains(studySettings, name):
			if err := settings.Set(&options, name, text); err != nil {
				return fmt.Errorf("algorithm setting %w", err)
			}
			continue
		case ofAcquisition:
			to, key = &d.Acquisition.Settings, rest
		case strings.HasPrefix(name, "maximizer."):
			to, key = &d.Maximizer, strings.TrimPrefix(name, "maximizer.")
		}
		if *to == nil {
			*to = map[string]any{}
		}
		(*to)[key] = text
	}
	d.Seed, d.Initial, d.Design, d.Warp, d.Local = options.Seed, options.Initial, options.Design, options.Warp, options.Local
	return nil
}

// split returns the conditions of a text, which semicolons separate.
func split(text string) (list []string) {
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// told returns a trial as a trial of the study.
func (e *experiment) told(t *api.Trial) (study.Told, error) {
	out := study.Told{Params: map[string]any{}}
	given := map[string]string{}
	for _, a := range t.GetSpec().GetParameterAssignments().GetAssignments() {
		given[a.GetName()] = a.GetValue()
	}
	for i := range e.parameters {
		p := &e.parameters[i]
		text, ok := given[p.Name]
		if !ok {
			return out, fmt.Errorf("parameter %q has no value", p.Name)
		}
		v, err := p.value(text)
		if err != nil {
			return out, fmt.Errorf("parameter %q: %w", p.Name, err)
		}
		out.Params[p.Name] = v
	}
	numbers := map[string]float64{}
	for _, m := range t.GetStatus().GetObservation().GetMetrics() {
		if v, err := strconv.ParseFloat(strings.TrimSpace(m.GetValue()), 64); err == nil && math.Abs(v) <= loop.MaxValue {
			numbers[m.GetName()] = v
		}
	}
	out.State = e.state(t.GetStatus(), numbers)
	switch loop.State(out.State) {
	case loop.Complete:
		out.Numbers = numbers
	case loop.Stopped:
		out.Numbers = map[string]float64{e.study.Objective().Name: numbers[e.study.Objective().Name]}
	}
	return out, nil
}

// state returns the state of a trial. A trial that ended without its metrics failed. A killed trial
// has nothing to do with its point.
func (e *experiment) state(s *api.TrialStatus, numbers map[string]float64) string {
	complete := e.study.Missing(numbers) == nil
	_, valued := numbers[e.study.Objective().Name]
	switch c := s.GetCondition(); {
	case c == api.TrialStatus_CREATED || c == api.TrialStatus_RUNNING:
		return string(loop.Pending)
	case c == api.TrialStatus_KILLED:
		return string(loop.Lost)
	case c == api.TrialStatus_EARLYSTOPPED && valued:
		return string(loop.Stopped)
	case c == api.TrialStatus_SUCCEEDED && complete || c == api.TrialStatus_UNKNOWN && complete:
		return string(loop.Complete)
	case c == api.TrialStatus_UNKNOWN && s.GetCompletionTime() == "":
		return string(loop.Pending)
	}
	return string(loop.Failed)
}
