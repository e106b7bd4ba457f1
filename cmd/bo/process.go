package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/functionspace/bo/internal/plaintext"
	"github.com/functionspace/bo/internal/pythonjson"
	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// keep is the number of bytes kept of the end of a program's output. It bounds the memory
// that a program with endless output takes.
const keep = 64 << 10

// program is an objective that runs a command for each trial.
type program struct {
	words   []template        // without a shell
	option  []bool            // whether each word is an option that is left out with the next word
	line    string            // command line for the shell
	names   map[string]string // names of the environment variables in line, by parameter; nil without a shell
	timeout time.Duration     // per trial; 0 is none

	declared []string // names of the numbers of a result, the objective first
	dir      string   // parent folder of the folders for the trials' output; "" keeps no output

	warn   func(text string)       // prints a warning
	unkept sync.Once               // guards the warning about output that is not kept
	halt   context.CancelCauseFunc // ends the context of all evaluations
}

// placeholders are the names of the placeholders of a command.
type placeholders struct {
	names       []string
	conditional map[string]bool // parameters with a condition
}

// placeholdersOf returns the placeholders of a study.
func placeholdersOf(d *study.Definition) placeholders {
	all := placeholders{conditional: map[string]bool{}}
	for _, p := range d.Parameters {
		all.names = append(all.names, p.Name)
		all.conditional[p.Name] = p.When.Text != ""
	}
	all.names = append(all.names, placeholderStudy, placeholderTrial, placeholderAttempt)
	return all
}

// newProgram parses a command line. Faults of the line are usage errors; a missing executable
// is not.
func newProgram(line string, names placeholders, shell bool, timeout time.Duration) (*program, error) {
	p := &program{timeout: timeout}
	parse := p.parseLine
	if shell {
		parse = p.parseShell
	}
	if err := parse(line, names); err != nil {
		return nil, usageError{err}
	}
	return p, p.find()
}

// newProgramOf is newProgram for the words of a command line.
func newProgramOf(words []string, names placeholders, timeout time.Duration) (*program, error) {
	p := &program{timeout: timeout}
	if err := p.parseWords(words, names); err != nil {
		return nil, usageError{err}
	}
	return p, p.find()
}

// find returns an error if the executable is missing.
func (p *program) find() error {
	name := shellName()
	if p.names == nil {
		if len(p.words[0].names) > 0 {
			return nil
		}
		name = p.words[0].fill(nil)
	}
	if _, err := exec.LookPath(name); err != nil {
		var e *exec.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return fmt.Errorf("--command: %s: %w", name, err)
	}
	return nil
}

func (p *program) parseLine(line string, names placeholders) error {
	words, err := splitWords(line)
	if err != nil {
		return err
	}
	return p.parseWords(words, names)
}

func (p *program) parseWords(words []string, names placeholders) error {
	for _, w := range words {
		t, err := parseTemplate(w, names.names)
		if err != nil {
			return err
		}
		p.words = append(p.words, t)
	}
	return p.markOptions(names)
}

// markOptions finds the options that are left out where a parameter is inactive. A placeholder of a
// parameter with a condition must stand in an argument that can be left out: name={x}, or {x}
// after an option such as --name.
func (p *program) markOptions(names placeholders) error {
	p.option = make([]bool, len(p.words))
	for i, w := range p.words {
		for _, name := range w.names {
			if !names.conditional[name] {
				continue
			}
			before := w.literal[0]
			switch {
			case i == 0:
				return fmt.Errorf("--command: {%s} has no value where it is inactive, and names the program", name)
			case len(w.names) > 1:
				return fmt.Errorf("--command: {%s} shares its argument with another placeholder, and has no value where it is inactive: give it an argument of its own", name)
			case strings.HasSuffix(before, "=") && len(before) > 1:
			case before == "" && w.literal[1] == "" && i > 1 && len(p.words[i-1].names) == 0 && strings.HasPrefix(p.words[i-1].literal[0], "-"):
				p.option[i-1] = true
			default:
				return fmt.Errorf("--command: {%s} has no value where it is inactive: write --%[1]s {%[1]s} or %[1]s={%[1]s}, which is left out then, or read the parameters from standard input", name)
			}
		}
	}
	return nil
}

func (p *program) parseShell(line string, names placeholders) error {
	if strings.TrimSpace(line) == "" {
		return errors.New("--command is empty")
	}
	t, err := parseTemplate(line, names.names)
	if err != nil {
		return err
	}
	for _, name := range t.names {
		if names.conditional[name] {
			return fmt.Errorf("--command: {%s} has no value where it is inactive: with --shell, read the parameters from standard input", name)
		}
	}
	p.names = map[string]string{}
	for i, name := range names.names {
		p.names[name] = fmt.Sprintf("BO_PARAMETER_%d", i+1)
	}
	p.line, err = t.inShell(func(name string) string { return p.names[name] })
	return err
}

func shellName() string {
	if runtime.GOOS == "windows" {
		return "cmd"
	}
	return "sh"
}

// command returns the arguments and the additional environment of one run. Arguments with an
// inactive parameter, and their options, are left out.
func (p *program) command(value func(name string) string, active func(name string) bool) (argv, env []string) {
	if p.names == nil {
		dropped := func(i int) bool {
			return slices.ContainsFunc(p.words[i].names, func(name string) bool { return !active(name) })
		}
		for i, w := range p.words {
			if !dropped(i) && !(p.option[i] && dropped(i+1)) {
				argv = append(argv, w.fill(value))
			}
		}
		return argv, nil
	}
	for name, variable := range p.names {
		env = append(env, variable+"="+value(name))
	}
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/v:on", "/c", p.line}, env
	}
	return []string{"sh", "-c", p.line}, env
}

// evaluate runs the program once. Parameters reach it by placeholder and on standard input.
// The numbers are on the last non-empty line of its output. If the machine lacks the resources to
// start a program, evaluate halts all evaluations: their trials are released, and none fails.
func (p *program) evaluate(ctx context.Context, c *call) (store.Report, error) {
	var stdout, stderr tail
	var both lockedTail
	failed := func(kind store.Failure, format string, args ...any) (store.Report, error) {
		return store.Report{Failure: kind, Output: both.String()}, fmt.Errorf(format, args...)
	}
	argv, env := p.command(c.value, c.active)
	input, err := c.input()
	if err != nil {
		return store.Report{}, err
	}
	logs, err := p.logs(c)
	if err != nil {
		p.unkept.Do(func() { p.warn(fmt.Sprintf("the output of trials is not kept: %v", err)) })
	}
	defer logs.close()
	run := ctx
	if p.timeout > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeout(ctx, p.timeout)
		defer cancel()
	}
	cmd := exec.CommandContext(run, argv[0], argv[1:]...)
	cmd.Env = append(c.environment(logs.dir), env...)
	steps := newStepReader(p.declared[0])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), io.MultiWriter(&stdout, &both, logs.stdout, steps), io.MultiWriter(&stderr, &both, logs.stderr)
	// After the program ends, or is killed, a child that left the group may
	// still hold its output open. WaitDelay bounds the wait for it.
	cmd.WaitDelay = time.Second
	ended, reported := make(chan struct{}), make(chan error)
	go func() { reported <- steps.report(ctx, ended, func() { terminate(run, cmd) }) }()
	err = runInGroup(cmd)
	close(ended)
	if stopped := <-reported; stopped != nil && ctx.Err() == nil {
		return store.Report{}, stopped
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		killGroup(cmd)
		err = nil
	}
	if err != nil {
		if cmd.Process == nil {
			if lack := exhausted(err); lack != nil {
				p.halt(fmt.Errorf("this machine cannot start the program: %w", lack))
			}
		}
		switch {
		case interrupted(ctx, run, cmd):
			return store.Report{}, ctx.Err()
		case run.Err() != nil:
			return failed(store.TimedOut, "no result within %v%s", p.timeout, stderr.quoted())
		}
		return failed(store.FailedByProgram, "%w%s", err, stderr.quoted())
	}
	line, whole := stdout.lastLine()
	if !whole {
		return failed(store.FailedByProgram, "the last line of the output is longer than %d KiB: print the value on a line of its own%s", keep>>10, stderr.quoted())
	}
	r, err := parseResult(line, p.declared)
	if err != nil {
		return failed(r.Failure, "%w%s", err, stderr.quoted())
	}
	r.Output = both.String()
	return r, nil
}

// exhausted returns an error of the machine that starts no program, such as too many open files, and nil for others.
// A new process that must copy a descriptor to a number beyond the limit has EBADF: too many files are open then too.
func exhausted(err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok && fault.Err == syscall.EBADF {
		return &fs.PathError{Op: fault.Op, Path: fault.Path, Err: syscall.EMFILE}
	}
	if slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.ENOSPC}, func(lack error) bool { return errors.Is(err, lack) }) {
		return err
	}
	return nil
}

// interrupted reports whether a program failed because this process is being ended. Job
// schedulers such as Slurm signal both at once, so interrupted waits a moment for the signal
// to this process: longer if a signal ended the program.
func interrupted(ctx, run context.Context, cmd *exec.Cmd) bool {
	if ctx.Err() != nil || cmd.ProcessState == nil { // it did not start
		return ctx.Err() != nil
	}
	wait := 50 * time.Millisecond
	if code := cmd.ProcessState.ExitCode(); code < 0 || code > 128 { // shells add 128 to the signal
		wait = time.Second
	}
	select {
	case <-ctx.Done():
	case <-run.Done(): // the timeout ended the program
	case <-time.After(wait):
	}
	return ctx.Err() != nil
}

// parseResult reads a number, which is the objective if no other number is declared, or the numbers
// of a JSON object with the declared numbers among them. Texts of the object are the note of the report. Other members
// do not count. The failure of the report is the kind of the error.
func parseResult(line string, declared []string) (store.Report, error) {
	fault := func(format string, args ...any) (store.Report, error) {
		return store.Report{Failure: store.FailedByProgram}, fmt.Errorf(format, args...)
	}
	if line == "" {
		return fault("the program printed nothing")
	}
	numbers, texts := map[string]float64{}, map[string]string{}
	y, err := strconv.ParseFloat(line, 64)
	if err == nil || math.IsInf(y, 0) {
		numbers[declared[0]] = y
		if len(declared) > 1 {
			return fault("last line is one number, want a JSON object with the numbers %s: %s", strings.Join(declared, ", "), brief(line))
		}
	} else {
		var object map[string]json.RawMessage
		whole := []byte(line)
		if json.Unmarshal(whole, &object) != nil {
			whole = pythonjson.Replace(whole, func(string) string { return "1e999" }) // no finite number either
			if json.Unmarshal(whole, &object) != nil {
				return fault("last line is neither a number nor a JSON object: %s", brief(line))
			}
		}
		_, faults, _ := strictjson.Object(whole, nil, nil)
		for _, f := range faults {
			if slices.Contains(declared, f.Key) {
				return fault("last line: %w: %s", f.Err, brief(line))
			}
		}
		for _, name := range declared {
			if object[name] == nil {
				what := ""
				if name == declared[0] {
					what = ", the name of the objective"
				}
				return fault("%w", study.Unreported(fmt.Sprintf("last line has no %q%s: %s", name, what, brief(line))))
			}
		}
		for name, text := range object {
			var note string
			switch v, err := strconv.ParseFloat(string(text), 64); {
			case err == nil || math.IsInf(v, 0):
				numbers[name] = v
			case slices.Contains(declared, name):
				return fault("%q on the last line is not a number: %s", name, brief(string(text)))
			case json.Unmarshal(text, &note) == nil:
				texts[name] = note
			}
		}
	}
	if slices.ContainsFunc(declared, func(name string) bool { y := numbers[name]; return math.IsNaN(y) || math.Abs(y) > loop.MaxValue }) {
		return store.Report{Failure: store.NotFinite}, fmt.Errorf("the program printed %s, want a finite number of at most %g", brief(line), loop.MaxValue)
	}
	maps.DeleteFunc(numbers, func(_ string, v float64) bool { return math.Abs(v) > loop.MaxValue })
	return store.Report{Numbers: numbers, Message: plaintext.Named(texts)}, nil
}

// brief quotes the start of a line for a message. Each run of unprintable characters becomes
// one replacement character.
func brief(line string) string {
	var b strings.Builder
	n, last := 0, rune(0)
	for _, r := range line {
		if !unicode.IsPrint(r) {
			r = utf8.RuneError
		}
		if r == utf8.RuneError && last == r {
			continue
		}
		if n++; n > 80 {
			return strconv.Quote(b.String()) + "…"
		}
		b.WriteRune(r)
		last = r
	}
	return strconv.Quote(b.String())
}

// tail is a Writer that keeps the last bytes written to it.
type tail struct {
	data []byte
	lost bool // earlier bytes are dropped
}

func (t *tail) Write(b []byte) (int, error) { return t.write(b, keep) }

// write keeps at least the last n bytes.
func (t *tail) write(b []byte, n int) (int, error) {
	all := len(b)
	if all > n {
		b, t.data, t.lost = b[all-n:], t.data[:0], true
	}
	t.data = append(t.data, b...)
	if len(t.data) > 2*n {
		t.data, t.lost = append(t.data[:0], t.data[len(t.data)-n:]...), true
	}
	return all, nil
}

// lockedTail keeps the end of the output that a report has: standard output and standard error in the
// order of their arrival.
type lockedTail struct {
	mu sync.Mutex
	tail
}

func (t *lockedTail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.write(b, 2*store.MaxOutput)
}

func (t *lockedTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// lastLine returns the last line that is not blank, trimmed, and whether its start was kept.
func (t *tail) lastLine() (line string, whole bool) {
	text := strings.TrimRight(string(t.data), " \t\r\n")
	start := strings.LastIndexAny(text, "\r\n") + 1
	return strings.TrimSpace(text[start:]), start > 0 || !t.lost
}

// quoted returns the last line for the end of a message.
func (t *tail) quoted() string {
	if line, _ := t.lastLine(); line != "" {
		return "; stderr ends " + brief(line)
	}
	return ""
}
