package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/loop"
)

// checkLine validates a command line against the model of the commands. It returns the
// line with each value joined to its flag (--budget=-3), so that kong cannot take a value
// for a flag. Errors name the flag or argument and the accepted values. A line with --help
// is cut to its command and --help.
func checkLine(root *kong.Node, line []string) ([]string, error) {
	c := lineCheck{node: root, given: map[*kong.Flag]bool{}}
	err := c.words(line)
	own, _ := cutWords(line, "--")
	if slices.ContainsFunc(own, isHelp) {
		return append(strings.Fields(c.node.Path()), "--help"), nil
	}
	if len(c.arguments) > 0 { // after --, an argument may begin with a dash
		c.out = slices.Concat(c.out, []string{"--"}, c.arguments)
	}
	return c.out, err
}

// cutWords returns the words before and after the first word that equals sep.
func cutWords(words []string, sep string) (before, after []string) {
	if i := slices.Index(words, sep); i >= 0 {
		return words[:i], words[i+1:]
	}
	return words, nil
}

func isHelp(word string) bool { return word == "-h" || word == "--help" }

// lineCheck holds the state of checkLine.
type lineCheck struct {
	node      *kong.Node // the command so far
	given     map[*kong.Flag]bool
	arguments []string // positional arguments of node so far
	out       []string // command and flags
}

func (c *lineCheck) words(line []string) error {
	literal := false // after --
	for i := 0; i < len(line); i++ {
		word := line[i]
		switch {
		case word == "--" && !literal:
			literal = true
		case !literal && len(word) > 1 && word[0] == '-' && !isHelp(word) && !c.negative(word):
			used, err := c.flag(word, line[i+1:])
			if err != nil {
				return err
			}
			i += used
		default:
			if err := c.argument(word); err != nil {
				return err
			}
		}
	}
	return c.complete()
}

// negative reports whether the word is a negative number and a positional argument may
// follow.
func (c *lineCheck) negative(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil && c.positional() != nil && findFlag(c.node, word[:2]) == nil
}

// positional returns the positional argument that the next word belongs to, or nil. The
// last argument may take several words.
func (c *lineCheck) positional() *kong.Positional {
	all := c.node.Positional
	if n := len(all); n > 0 && len(c.arguments) >= n && all[n-1].IsCumulative() {
		return all[n-1]
	}
	if len(c.arguments) < len(all) {
		return all[len(c.arguments)]
	}
	return nil
}

// flag takes a flag and returns the number of following words that it uses: 1 for a value.
func (c *lineCheck) flag(word string, next []string) (int, error) {
	name, value, joined := strings.Cut(word, "=")
	f := findFlag(c.node, name)
	if f == nil && len(name) > 2 && name[1] != '-' { // -n4
		if f = findFlag(c.node, name[:2]); f != nil {
			value, joined = strings.TrimPrefix(word[2:], "="), true
		}
	}
	if f == nil {
		return 0, c.unknownFlag(name)
	}
	if !strings.HasPrefix(name, "--") {
		name = "--" + f.Name
	}
	c.given[f] = true
	used := 0
	switch {
	case f.IsBool() && !joined:
		c.out = append(c.out, name)
		return 0, nil
	case !joined && (len(next) == 0 || strings.HasPrefix(next[0], "--")):
		return 0, fmt.Errorf("%s needs a value", name)
	case !joined:
		value, used = next[0], 1
	}
	c.out = append(c.out, name+"="+value)
	return used, checkValue(name, f.Value, value)
}

func findFlag(node *kong.Node, name string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if "--"+f.Name == name || f.Short != 0 && "-"+string(f.Short) == name || f.Tag.Negatable != "" && "--no-"+f.Name == name {
				return f
			}
		}
	}
	return nil
}

// argument takes a command name or a positional argument.
func (c *lineCheck) argument(word string) error {
	switch {
	case len(c.node.Children) > 0:
		var names []string
		for _, child := range c.node.Children {
			if child.Name == word {
				c.node = child
				c.out = append(c.out, word)
				return nil
			}
			if !child.Hidden {
				names = append(names, child.Name)
			}
		}
		hint := didyoumean.Hint(word, names)
		if hint == "" {
			hint = fmt.Sprintf("; %s --help lists the commands", c.node.FullPath())
		}
		return fmt.Errorf("unknown command %q%s", word, hint)
	case c.positional() != nil:
		p := c.positional()
		c.arguments = append(c.arguments, word)
		return checkValue("<"+p.Name+">", p, word)
	case c.givenName("command"):
		return fmt.Errorf("unexpected argument %q: quote the whole line of --command", word)
	}
	return fmt.Errorf("unexpected argument %q", word)
}

func (c *lineCheck) givenName(name string) bool {
	for f := range c.given {
		if f.Name == name {
			return true
		}
	}
	return false
}

// complete returns an error that names the missing parts of a whole command line.
func (c *lineCheck) complete() error {
	if len(c.node.Children) > 0 && len(c.given) == 0 {
		var names []string
		for _, child := range c.node.Children {
			if !child.Hidden {
				names = append(names, child.Name)
			}
		}
		return fmt.Errorf("%s needs a command: %s", c.node.FullPath(), strings.Join(names, ", "))
	}
	var missing []string
	for _, p := range c.node.Positional[min(len(c.arguments), len(c.node.Positional)):] {
		if p.Required {
			missing = append(missing, fmt.Sprintf("<%s>: %s", p.Name, strings.TrimSuffix(p.Help, ".")))
		}
	}
	for _, f := range c.node.Flags {
		if f.Required && !c.given[f] {
			missing = append(missing, fmt.Sprintf("--%s %s", f.Name, f.FormatPlaceHolder()))
		}
	}
	if missing != nil {
		return fmt.Errorf("missing %s", strings.Join(missing, "; "))
	}
	return nil
}

// checkValue validates the text of a flag or argument by its type and its tags. The tags have the values (enum),
// bounds (min and max), or the option of package loop whose range applies (option).
func checkValue(name string, v *kong.Value, text string) error {
	if v.Enum != "" {
		if valid := slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" }); !slices.Contains(valid, text) {
			return fmt.Errorf("%s is %q, want one of %s", name, text, strings.Join(valid, ", "))
		}
	}
	t := v.Target.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		if d, err := time.ParseDuration(text); err != nil || d <= 0 {
			return fmt.Errorf("%s is %q, want a positive duration such as 90s, 10m or 2h", name, text)
		}
	case t.Kind() == reflect.Bool:
		if _, err := strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%s is %q, want true or false", name, text)
		}
	case t.Kind() == reflect.Float64:
		if _, err := parseNumber(text); err != nil {
			return fmt.Errorf("%s is %q, want a number", name, text)
		}
	case t.Kind() == reflect.Uint64:
		if _, err := strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("%s is %q, want a whole number from 0 to 2^64-1", name, text)
		}
	case t.Kind() == reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is %q, want a whole number", name, text)
		}
		if key := v.Tag.Get("option"); key != "" {
			if err := settings.Set(&loop.Options{}, key, text); err != nil {
				return fmt.Errorf("%s%s", name, strings.TrimPrefix(err.Error(), key))
			}
		}
		return checkBounds(name, v, n, text)
	}
	return nil
}

// describeOptions replaces ${KEY_default}, ${KEY_help} and ${KEY_values} in the tags of the flags of bo run by the
// texts of the options of package loop. As variables of kong, which expands all of them again for each flag, they
// would cost most of the start of bo.
func describeOptions(k *kong.Kong) error {
	var texts []string
	for _, s := range settings.List(&loop.Options{}) {
		texts = append(texts, "${"+s.Key+"_default}", s.Default, "${"+s.Key+"_help}", s.Help, "${"+s.Key+"_values}", strings.Join(s.Values, ","))
	}
	r := strings.NewReplacer(texts...)
	for _, n := range k.Model.Children {
		if n.Name != "run" {
			continue
		}
		for _, f := range n.Flags {
			f.Help, f.Enum = r.Replace(f.Help), r.Replace(f.Enum)
		}
	}
	return nil
}

func checkBounds(name string, v *kong.Value, n int, text string) error {
	if lo, err := v.Tag.GetInt("min"); err == nil && int64(n) < lo {
		return fmt.Errorf("%s is %s, want %d or more", name, text, lo)
	}
	if hi, err := v.Tag.GetInt("max"); err == nil && int64(n) > hi {
		return fmt.Errorf("%s is %s, want %d or less", name, text, hi)
	}
	return nil
}

// elsewhere names the flag of bo run for a flag of other optimisers.
var elsewhere = map[string]string{
	"n-trials": "--budget N", "max-trials": "--budget N", "num-trials": "--budget N", "n-calls": "--budget N",
	"n-iter": "--budget N", "max-iter": "--budget N", "iterations": "--budget N", "evaluations": "--budget N", "max-evals": "--budget N",
	"num-samples": "--budget N", "count": "--budget N", "total-trials": "--budget N", "run-cap": "--budget N",
	"max-concurrent": "--workers N", "max-parallelism": "--workers N", "num-workers": "--workers N",
	"mode": "--maximize, or nothing to minimise", "goal": "--maximize, or nothing to minimise",
	"metric": "a study file with objectives: [{name: NAME}]", "objective-name": "a study file with objectives: [{name: NAME}]",
	"method": "--surrogate NAME and --acquisition NAME", "search-alg": "--surrogate NAME and --acquisition NAME",
	"n-jobs": "--workers N", "jobs": "--workers N", "parallel": "--workers N", "concurrency": "--workers N",
	"n-initial-points": "--initial N", "n-startup-trials": "--initial N", "init-points": "--initial N",
	"q": "--batch N", "batch-size": "--batch N",
	"direction": "--maximize, or nothing to minimise", "minimize": "nothing: bo run minimises", "minimise": "nothing: bo run minimises",
	"sampler": "--surrogate NAME and --acquisition NAME", "algorithm": "--surrogate NAME and --acquisition NAME",
	"model": "--surrogate NAME", "acq-func": "--acquisition NAME",
	"state": "--study NAME; bo study import reads a file of an earlier --state", "study-name": "--study NAME", "storage": "--store FILE", "resume": "--study NAME",
	"kernel": "--set kernel=NAME", "noise": "--set noise=VARIANCE", "lengthscale": "--set lengthscale=L1,L2",
	"random-state": "--seed N", "random-seed": "--seed N",
	"output": "--trials FILE", "out": "--trials FILE", "csv": "--trials FILE.csv",
	"params": "--space FILE", "search-space": "--space FILE", "program": "--command LINE", "cmd": "--command LINE",
}

// unknownFlag names the flag to use instead: the counterpart of another optimiser's flag,
// the command that has a flag of this name, or a flag with a similar name.
func (c *lineCheck) unknownFlag(name string) error {
	bare := strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
	if use, ok := elsewhere[bare]; ok && c.node.FullPath() == "bo run" {
		return fmt.Errorf("unknown flag %s: use %s", name, use)
	}
	if c.node.FullPath() == "bo init" {
		return fmt.Errorf("unknown flag %s of bo init: write -- before the example, as in bo init -- python train.py %s 1", name, name)
	}
	var valid []string
	for _, group := range c.node.AllFlags(true) {
		for _, f := range group {
			valid = append(valid, "--"+f.Name)
		}
	}
	if slices.Contains(valid, "--"+bare) {
		return fmt.Errorf("unknown flag %s: did you mean --%s?", name, bare)
	}
	root := c.node
	for root.Parent != nil {
		root = root.Parent
	}
	var owners []string
	for _, leaf := range root.Leaves(true) {
		if slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == bare }) {
			owners = append(owners, leaf.FullPath())
		}
	}
	if owners != nil {
		return fmt.Errorf("unknown flag %s of %s: it belongs to %s", name, c.node.FullPath(), strings.Join(owners, ", "))
	}
	if hint := didyoumean.Hint(name, valid); strings.HasPrefix(hint, ":") {
		return fmt.Errorf("unknown flag %s%s", name, hint)
	}
	return fmt.Errorf("unknown flag %s; %s --help lists the flags", name, c.node.FullPath())
}
