package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

type object = map[string]any

// keyHelp describes the keys of a definition that are not options of package loop.
var keyHelp = map[string]string{
	"version":     "Version of the form",
	"name":        "Name of the study: 1 to 100 letters, digits, dots, dashes and underscores",
	"parameters":  "The search space",
	"constraints": "Conditions on the parameters that hold at every point, such as layers * width <= 4096",
	"defaults":    "Value of each added parameter in trials that are older than the parameter",
	"objectives":  "The numbers to optimise; default {name: value, goal: minimize}",
	"require":     "Outcome constraints on reported numbers, such as latency <= 20: learned from the trials",
	"builtin":     "Name of a built-in objective, in place of a command and parameters",
	"command":     "Program to run for each trial, with {name} for the value of a parameter: a line, or the list of its arguments",
	"shell":       "Run the command by the shell",
	"timeout":     "A trial that takes longer fails: a time such as 90s or 2h",
	"failures":    "expected: failures of the first trials do not end a run",
	"end":         "Conditions that end a run before the budget is used up",
	"stop":        "Rule that stops poor trials early: a name, or a mapping with the rule and settings",
	"optimum":     "Belief about the optimum, by parameter: its density weighs the search, less with every trial",
	"prior_mean":  "Prior mean function of the objective, such as 3 + 2*log(x); default a constant that is estimated",
	"first":       "Points to try first, as mappings from parameters to values; parameters that are left out are completed by the initial design",
	"earlier":     "Evaluations made before the study, as a list or as the name of a CSV table: they do not count against the budget",
	"surrogate":   "Surrogate model: a name, or a mapping with the name and settings",
	"acquisition": "Acquisition function: a name, or a mapping with the name and settings",
	"maximizer":   "Settings of the maximisation of the acquisition function",
}

// Schema returns the JSON Schema (draft 2020-12) of the JSON form. Editors use it for
// completion; Parse checks more.
func Schema() []byte {
	keys, fields := (&Definition{}).fields()
	properties := object{}
	for _, key := range keys {
		properties[key] = keySchema(key, fields[key])
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Study of bo", "type": "object",
		"anyOf":                []object{{"required": []string{"parameters"}}, {"required": []string{"builtin"}}},
		"additionalProperties": false, "properties": properties,
	})
	if err != nil {
		panic(err) // maps, strings and numbers
	}
	return b.Bytes()
}

func keySchema(key string, to any) object {
	for _, o := range settings.List(&loop.Options{}) {
		if o.Key == key {
			return settingSchema(catalog.Setting{Type: o.Type, Default: o.Default, Range: o.Range, Values: o.Values, Help: o.Help})
		}
	}
	s := object{}
	switch to.(type) {
	case *[]space.Parameter:
		s = object{"type": "array", "minItems": 1, "items": object{"oneOf": parameterSchemas()}}
	case *[]string:
		s = object{"type": "array", "items": object{"type": "string", "minLength": 1}}
	case *[]Objective:
		s = object{"type": "array", "maxItems": loop.MaxObjectives, "items": closed([]string{"name"}, object{
			"name": object{"type": "string"}, "goal": object{"enum": []string{Minimize, Maximize}}, "noise_free": object{"type": "boolean"},
			"noise_sd": object{"type": "number", "exclusiveMinimum": 0}, "standard_error": object{"type": "string", "minLength": 1},
			"reference": object{"type": "number"},
		})}
	case *loop.Stop:
		properties := object{}
		for _, o := range settings.List(&loop.Stop{}) {
			properties[o.Key] = settingSchema(catalog.Setting{Type: o.Type, Default: o.Default, Range: o.Range, Values: o.Values, Help: o.Help})
		}
		s = object{"oneOf": []object{{"enum": []loop.StopRule{loop.ASHA, loop.Median, loop.NeverStop}}, closed([]string{"rule"}, properties)}}
	case *Component:
		s = object{"oneOf": componentSchemas(key)}
	case *map[string]loop.Belief:
		s = object{"type": "object", "additionalProperties": object{"oneOf": beliefSchemas()}}
	case *[]map[string]any:
		s = object{"type": "array", "maxItems": loop.MaxFirst, "items": object{"type": "object"}}
	case *End:
		s = closed(nil, endSchemas())
	case *Earlier:
		list := object{"type": "array", "items": closed([]string{"params"}, object{
			"params": object{"type": "object"}, "state": object{"enum": []loop.State{loop.Complete, loop.Failed}},
			"value": object{"type": "number"}, "numbers": object{"type": "object", "additionalProperties": object{"type": "number"}},
		})}
		s = object{"oneOf": []object{{"type": "string", "minLength": 1}, list}}
	case *map[string]any:
		s = object{"type": "object"}
		if key == "maximizer" {
			s = closed(nil, settingSchemas(newMethod("", ""), "maximizer."))
		}
	case *bool:
		s["type"] = "boolean"
	case *int:
		s["const"] = Version // only the key version is an int
	default:
		s["type"] = "string"
	}
	if key == "command" {
		s = object{"anyOf": []object{{"type": "string"}, {"type": "array", "minItems": 1, "items": object{"type": "string"}}}}
	}
	if key == "failures" {
		s = object{"const": ExpectedFailures}
	}
	s["description"] = keyHelp[key]
	return s
}

// closed returns the schema of an object without other keys.
func closed(required []string, properties object) object {
	s := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// parameterSchemas returns a schema for each kind of parameter.
func parameterSchemas() (all []object) {
	scalar := object{"type": []string{"string", "number", "boolean"}}
	for _, kind := range []space.Kind{space.KindFloat, space.KindInt, space.KindBool, space.KindOrdinal, space.KindCategorical, space.KindFixed} {
		properties := object{
			"name": object{"type": "string", "minLength": 1}, "type": object{"const": kind}, "when": object{"type": "string", "minLength": 1},
			"given": object{"type": "boolean"},
		}
		required := []string{"name", "type"}
		switch kind {
		case space.KindFloat, space.KindInt:
			bound := object{"type": "number"}
			if kind == space.KindInt {
				bound = object{"type": "integer"}
			}
			properties["min"], properties["max"], properties["log"] = bound, bound, object{"type": "boolean"}
			properties["step"] = object{"type": bound["type"], "exclusiveMinimum": 0}
			required = append(required, "min", "max")
		case space.KindBool:
		case space.KindFixed:
			properties["value"] = scalar
			delete(properties, "given")
			required = append(required, "value")
		default:
			properties["values"] = object{"type": "array", "minItems": 2, "uniqueItems": true, "items": scalar}
			required = append(required, "values")
		}
		all = append(all, closed(required, properties))
	}
	return all
}

// beliefSchemas returns the schemas of a belief about the optimum.
func beliefSchemas() []object {
	positive := object{"type": "number", "exclusiveMinimum": 0}
	return []object{
		closed([]string{"around", "factor"}, object{"around": positive, "factor": object{"type": "number", "exclusiveMinimum": 1}}),
		closed([]string{"around", "within"}, object{"around": object{"type": "number"}, "within": positive}),
		closed([]string{"values"}, object{"values": object{"type": "object", "additionalProperties": object{"type": "number", "minimum": 0, "maximum": 1}}}),
	}
}

// endSchemas returns the schemas of the conditions that end a run.
func endSchemas() object {
	described := func(text string, s object) object {
		s["description"] = text
		return s
	}
	return object{
		"time":         described("Start no trial after this time of a run, such as 90m or 2h", object{"type": "string"}),
		"target":       described("End when a trial is at least as good", object{"type": "number"}),
		"max_failures": described("End when more trials have failed", object{"type": "integer", "minimum": 1}),
		"cost":         described("Limit of the sum of a reported number, such as dollars <= 50", object{"type": "string", "minLength": 1}),
		"regret":       described("End when the estimated regret is at most this number", object{"type": "number", "exclusiveMinimum": 0}),
		"probability":  described("Probability that the regret is at most its estimate; default 0.95", object{"type": "number", "minimum": 0.5, "maximum": 0.99}),
	}
}

// componentSchemas returns the schema of a name, and one for each name with its settings. A
// mapping without a name has the settings of the default.
func componentSchemas(key string) []object {
	entries, prefix := catalog.Surrogates(), ""
	if key == "acquisition" {
		entries, prefix = catalog.Acquisitions(), "acquisition."
	}
	var names []string
	all := []object{nil}
	for i, e := range entries {
		names = append(names, e.Name)
		var m *catalog.Method
		if key == "acquisition" {
			m = newMethod("", e.Name)
		} else {
			m = newMethod(e.Name, "")
		}
		properties := settingSchemas(m, prefix)
		properties["name"] = object{"const": e.Name, "description": e.Summary}
		required := []string{"name"}
		if i == 0 {
			required = nil
		}
		all = append(all, closed(required, properties))
	}
	all[0] = object{"enum": names}
	return all
}

// newMethod returns a method of the catalog; "" stands for the default.
func newMethod(surrogate, acquisition string) *catalog.Method {
	d := &Definition{Surrogate: Component{Name: surrogate}, Acquisition: Component{Name: acquisition}}
	m, faults := d.method()
	if faults != nil {
		panic(faults[0]) // the names are from the catalog
	}
	return m
}

// settingSchemas returns the schemas of the settings whose keys have the prefix.
func settingSchemas(m *catalog.Method, prefix string) object {
	all := object{}
	for _, s := range m.Settings() {
		key, ok := strings.CutPrefix(s.Key, prefix)
		if ok && !strings.Contains(key, ".") {
			all[key] = settingSchema(s)
		}
	}
	return all
}

func settingSchema(s catalog.Setting) object {
	out := object{}
	switch s.Type {
	case "number", "whole number":
		out["type"] = map[string]string{"number": "number", "whole number": "integer"}[s.Type]
		bounds(out, s.Range)
	case "true or false":
		out["type"] = "boolean"
	case "texts":
		item := object{"type": "string"}
		out = object{"anyOf": []object{item, {"type": "array", "items": item}}}
	case "numbers", "whole numbers":
		item := object{"type": map[string]string{"numbers": "number", "whole numbers": "integer"}[s.Type]}
		bounds(item, s.Range)
		out = object{"anyOf": []object{item, {"type": "array", "items": item}}}
	default:
		out["type"] = "string"
		if s.Values != nil {
			out = object{"enum": s.Values}
		}
	}
	if strings.HasPrefix(s.Default, settings.Learned) {
		out = object{"anyOf": []object{out, {"const": settings.Learned}}}
	}
	out["description"] = fmt.Sprintf("%s; default %s", s.Help, s.Default)
	return out
}

// bounds adds the bounds that a range states in words.
func bounds(s object, words string) {
	for part := range strings.SplitSeq(words, " and ") {
		var lo, hi float64
		if n, _ := fmt.Sscanf(part, "%g to %g", &lo, &hi); n == 2 {
			s["minimum"], s["maximum"] = lo, hi
			return
		}
		for form, key := range map[string]string{"more than %g": "exclusiveMinimum", "%g or more": "minimum", "less than %g": "exclusiveMaximum", "at most %g": "maximum"} {
			if n, err := fmt.Sscanf(part, form, &lo); n == 1 && err == nil {
				s[key] = lo
			}
		}
	}
}
