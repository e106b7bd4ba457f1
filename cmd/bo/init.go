package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

type initCmd struct {
	Example   []string `arg:"" optional:"" placeholder:"WORD" help:"An example command line, after --."`
	Objective string   `complete:"objectives" placeholder:"NAME" help:"Built-in objective, in place of an example (see bo list objectives)."`
	Output    string   `short:"o" default:"study.yaml" placeholder:"FILE" help:"The file to write: FILE.yaml or FILE.yml. Default: ${default}."`
	JSON      bool     `group:"result" name:"json" help:"Print the name of the file and the definition as one JSON object."`
}

func (initCmd) Help() string {
	return `Writes a commented study file from an example command line. Each number becomes a parameter with a range around it: a logarithmic scale for numbers that vary over powers of ten. true and false become a choice. Other words after a flag become fixed parameters. An existing file is not changed. Check the ranges in the file before the first run.

Examples:

    bo init -- python train.py --lr 0.01 --layers 3 --opt adam
    bo init -o oven.yaml -- ./oven --degrees=80 --fan true 30
    bo init --objective branin`
}

func (c *initCmd) Run(e *env) error {
	if ext := strings.ToLower(filepath.Ext(c.Output)); ext != ".yaml" && ext != ".yml" {
		return usagef("-o %s: the name must end in .yaml or .yml", c.Output)
	}
	text, check, err := c.text()
	if err != nil {
		return usageError{err}
	}
	if err := writeNew(c.Output, text); err != nil {
		return err
	}
	d, _, err := readStudy(c.Output)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"file": c.Output, "definition": d})
	}
	_, err = fmt.Fprintf(e.stdout, "wrote %s: %s%s\n", c.Output, summary(d), check)
	return err
}

// text returns the text of the study file, and advice to print with its name.
func (c *initCmd) text() (text, check string, err error) {
	switch {
	case c.Objective != "" && len(c.Example) > 0:
		return "", "", errors.New("--objective and an example command line exclude each other")
	case c.Objective != "":
		o, err := benchmarks.Lookup(c.Objective)
		if err != nil {
			return "", "", err
		}
		return fmt.Sprintf("# Run it with bo run %s.\nname: %s\nbuiltin: %s # has parameters of its own\nbudget: %d # number of trials\n",
			filepath.Base(c.Output), o.Name, o.Name, loop.DefaultBudget), "", nil
	case len(c.Example) == 0:
		return "", "", errors.New("missing <example>: state a command line after --, as in bo init -- python train.py --lr 0.01, or --objective NAME; a study without a program has no command: the section \"Evaluate by hand\" of the guide has its file")
	}
	s, err := newSketch(c.Example)
	if err != nil {
		return "", "", err
	}
	return s.text(), "; check its ranges", nil
}

// writeNew writes a file that must not exist.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists and is not changed: give another file with -o", path)
	} else if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// sketch is the study derived from an example command line.
type sketch struct {
	name       string
	words      []string // words of the command, quoted, with placeholders
	parameters []space.Parameter
	examples   []string // the example's text of each parameter
}

// newSketch reads the words of an example. The value of a flag, and every number, becomes a
// parameter. Other words stay as they are.
func newSketch(example []string) (*sketch, error) {
	if assignment.MatchString(example[0]) {
		return nil, fmt.Errorf("%s needs a shell: begin with env, as in bo init -- env %s …", example[0], example[0])
	}
	s := &sketch{name: studyName(example)}
	positional := 0
	for i := 0; i < len(example); i++ {
		word := example[i]
		if !utf8.ValidString(word) {
			return nil, fmt.Errorf("the word %q is not valid UTF-8", word)
		}
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case i == 0:
			s.literal(word)
		case joined && (isFlag(flag) || settingName.MatchString(flag)):
			s.parameter(flag+"=", flag, value)
		case isFlag(word) && i+1 < len(example) && isValue(word, example[i+1]):
			s.literal(word)
			i++
			s.parameter("", word, example[i])
		case decimal.MatchString(word):
			positional++
			s.parameter("", fmt.Sprintf("arg%d", positional), word)
		default:
			s.literal(word)
		}
	}
	if !slices.ContainsFunc(s.parameters, func(p space.Parameter) bool { return p.Kind != space.KindFixed }) {
		return nil, errors.New("the example has nothing to search: give at least one number, as in bo init -- python train.py --lr 0.01")
	}
	return s, nil
}

var (
	decimal     = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*|[0-9]*\.[0-9]+|[0-9]+\.)([eE][+-]?[0-9]+)?$`)
	integer     = regexp.MustCompile(`^[+-]?[0-9]+$`)
	settingName = regexp.MustCompile(`^[+~]*[A-Za-z_][A-Za-z0-9_.-]*[a-z][A-Za-z0-9_.-]*$|^[a-z]$`) // lr=0.1, but not OMP_NUM_THREADS=1
)

func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && word != "--" && !decimal.MatchString(word)
}

// isValue reports whether the word after a flag is the flag's value. After a flag of one letter
// only numbers and booleans are: python -m train has no parameter.
func isValue(flag, word string) bool {
	if decimal.MatchString(word) || isBool(word) {
		return true
	}
	return !isFlag(word) && word != "--" && (strings.HasPrefix(flag, "--") || len(flag) > 2)
}

func isBool(word string) bool {
	return strings.EqualFold(word, "true") || strings.EqualFold(word, "false")
}

// literal adds a word without parameters.
func (s *sketch) literal(word string) { s.words = append(s.words, quoteWord(escapeBraces(word))) }

// parameter adds a parameter and the word that holds its placeholder.
func (s *sketch) parameter(prefix, flag, value string) {
	p := guess(s.unused(flag), value)
	s.parameters, s.examples = append(s.parameters, p), append(s.examples, value)
	s.words = append(s.words, quoteWord(escapeBraces(prefix)+"{"+p.Name+"}"))
}

func escapeBraces(word string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(word)
}

// unused returns the name of a flag's parameter, which no other parameter has.
func (s *sketch) unused(flag string) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r == '-':
			return '_'
		case r == '{' || r == '}' || unicode.IsControl(r) || unicode.IsSpace(r):
			return -1
		}
		return r
	}, strings.TrimLeft(flag, "-+~"))
	if base == "" || base == study.Reserved || strings.HasPrefix(base, study.Reserved+".") {
		base = "arg_" + base
	}
	name := base
	for n := 2; slices.ContainsFunc(s.parameters, func(p space.Parameter) bool { return p.Name == name }); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}

var (
	// fixedNames matches names of whole numbers that do not affect the objective, or affect it only
	// by chance.
	fixedNames = regexp.MustCompile(`(?i)(^|_)(seed|port|gpus?|device|rank|workers|threads|jobs|verbose|version|id)$`)
	// scaleNames matches names of numbers that vary over powers of ten.
	scaleNames = regexp.MustCompile(`(?i)(^|_|\.)(lr|learning_rate|rate|wd|decay|weight_decay|alpha|lambda|reg|l1|l2|eps|epsilon|tol|jitter)$`)
)

// guess returns a valid parameter for the text of an example.
func guess(name, text string) space.Parameter {
	fixed := space.Fixed(name, text)
	if isBool(text) {
		if text == "true" || text == "false" {
			return space.Bool(name)
		}
		other := map[string]string{"True": "False", "False": "True", "TRUE": "FALSE", "FALSE": "TRUE"}[text]
		if other == "" {
			return fixed
		}
		return space.Categorical(name, text, other)
	}
	x, err := strconv.ParseFloat(text, 64)
	if !decimal.MatchString(text) || err != nil {
		return fixed
	}
	if integer.MatchString(text) && math.Abs(x) < 1e15 && strconv.FormatFloat(x, 'f', -1, 64) == text {
		fixed.Value = x
	}
	if integer.MatchString(text) && fixedNames.MatchString(name) {
		return fixed
	}
	p := aroundFloat(name, x)
	if integer.MatchString(text) {
		p = aroundInt(name, x)
	}
	if _, err := space.New(p); err != nil {
		return fixed
	}
	return p
}

// aroundInt returns a range with n: up to 2n+2 for small numbers, a factor of four on either
// side for others.
func aroundInt(name string, n float64) space.Parameter {
	p := space.Parameter{Name: name, Kind: space.KindInt, Min: 1, Max: 2*n + 2}
	switch {
	case n < 0:
		p.Min, p.Max = 2*n, -2*n
	case n == 0:
		p.Min, p.Max = 0, 10
	case n >= 10:
		p.Min, p.Max, p.Log = math.Floor(n/4), 4*n, true
	}
	return p
}

// aroundFloat returns a range with x: two powers of ten on either side for small numbers and
// for names such as lr, one for numbers from 1, and 0 to 1 between.
func aroundFloat(name string, x float64) space.Parameter {
	p := space.Parameter{Name: name, Kind: space.KindFloat, Min: 0, Max: 1}
	switch {
	case x < 0:
		p.Min, p.Max = rounded(2*x), rounded(-2*x)
	case x == 0:
	case x < 0.1 || scaleNames.MatchString(name):
		p.Min, p.Max, p.Log = rounded(x/100), rounded(x*100), true
		if x < 1 {
			p.Max = math.Min(p.Max, 1)
		}
	case x >= 1:
		p.Min, p.Max, p.Log = rounded(x/10), rounded(x*10), true
	}
	return p
}

// rounded returns x with three significant digits.
func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return y
}

// studyName returns a name derived from the program: train for python train.py.
func studyName(example []string) string {
	base := func(word string) string { return filepath.Base(filepath.ToSlash(word)) }
	name := base(example[0])
	for _, word := range example[1:] {
		if ext := filepath.Ext(word); !isFlag(word) && len(ext) > 1 && !decimal.MatchString(word) && !strings.Contains(word, "=") {
			name = base(word)
			break
		} else if strings.HasPrefix(word, "--") {
			break
		}
	}
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if study.CheckName(name) != nil {
		return "study"
	}
	return name
}

// text returns the study file.
func (s *sketch) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A study file. bo validate reports its faults, and bo run stores and runs the study.\nname: %s\n\n", yamlText(s.name))
	b.WriteString("# The ranges are guesses around the example: check each of them. Types: float, int, bool,\n# ordinal, categorical and fixed.\nparameters:\n")
	for i, p := range s.parameters {
		entry, comment := entryText(p, s.examples[i])
		fmt.Fprintf(&b, "  - %s   # %s\n", entry, comment)
	}
	fmt.Fprintf(&b, `
# The program prints the value on its last line: a number, or an object such as {"value": 0.1}.
objectives:
  - {name: value, goal: minimize}   # or maximize; noise_free: true if equal points give equal values

# {name} stands for the value of a parameter.
command: %s
# timeout: 1h     # a trial that takes longer fails

budget: %d        # total number of trials
# workers: 4      # trials at the same time
# seed: 1         # another seed gives other trials
# surrogate: gp   # bo list surrogates
# optimum: {NAME: {around: 0.01, factor: 3}}   # belief about the best value; within: 1 without log
# first: [{NAME: 0.01}]                        # points to try first, also in part
# earlier: trials.csv                          # evaluations made before
`, yamlText(strings.Join(s.words, " ")), loop.DefaultBudget)
	return b.String()
}

// entryText returns the YAML entry of a parameter and the comment after it.
func entryText(p space.Parameter, example string) (entry, comment string) {
	entry = fmt.Sprintf("{name: %s, type: %s", flowText(p.Name), p.Kind)
	comment = "the example has " + commentText(example)
	switch p.Kind {
	case space.KindFixed:
		if x, ok := p.Value.(float64); ok {
			entry += ", value: " + yamlNumber(x)
			comment = "to search: type: int, min: …, max: …"
			break
		}
		value := flowText(p.Value.(string))
		entry += ", value: " + value
		comment = fmt.Sprintf("to search: type: categorical, values: [%s, …]", commentText(value))
	case space.KindBool:
	case space.KindCategorical:
		entry += fmt.Sprintf(", values: [%#v, %#v]", p.Values[0], p.Values[1])
	default:
		entry += fmt.Sprintf(", min: %s, max: %s", yamlNumber(p.Min), yamlNumber(p.Max))
		if p.Log {
			entry += ", log: true"
		}
	}
	return entry + "}", comment
}

// commentText returns the beginning of a text on one line.
func commentText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return text
}

// yamlNumber writes 0.0001 as 1e-4 and 10000 as it is.
func yamlNumber(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		text = strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strings.Replace(text, "e-0", "e-", 1)
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z./][A-Za-z0-9_./=+{} -]*$`)
	otherType = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|null|y|n|\.inf|\.nan|\.[0-9].*|\.\.\.)$| $`)
)

// flowText writes a string for a mapping {…} so that YAML reads it as the same string.
func flowText(text string) string {
	if strings.ContainsAny(text, "{} ") {
		return strconv.Quote(text)
	}
	return yamlText(text)
}

// yamlText writes a string for a line KEY: TEXT so that YAML reads it as the same string.
func yamlText(text string) string {
	if plainText.MatchString(text) && !otherType.MatchString(text) {
		return text
	}
	return strconv.Quote(text) // YAML reads the escapes of Go
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./=+:,@%{}-]+$`)

// shellWord writes an argument for a command in a message.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return quoteWord(word)
}

// quoteWord writes a word so that splitWords reads it as the same word.
func quoteWord(word string) string {
	switch {
	case plainWord.MatchString(word) && !assignment.MatchString(word):
		return word
	case !strings.Contains(word, "'"):
		return "'" + word + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}
