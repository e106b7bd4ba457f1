package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// keep is the number of bytes kept of the end of a program's output. It bounds the memory
// that a program with endless output takes.
const keep = 64 << 10

// A program is an objective that runs a command for each trial.
type program struct {
	words   []template        // without a shell
	line    string            // command line for the shell
	names   map[string]string // names of the environment variables in line, by parameter; nil without a shell
	timeout time.Duration     // per trial; 0 is none
}

// newProgram parses a command line whose placeholders are among names. Faults of the line
// are usage errors; that the executable cannot be found is not.
func newProgram(line string, names []string, shell bool, timeout time.Duration) (*program, error) {
	p := &program{timeout: timeout}
	executable := shellName()
	var err error
	if shell {
		err = p.parseShell(line, names)
	} else {
		err = p.parseWords(line, names)
	}
	if err != nil {
		return nil, usageError{err}
	}
	if !shell {
		if len(p.words[0].names) > 0 {
			return p, nil
		}
		executable = p.words[0].fill(nil)
	}
	if _, err := exec.LookPath(executable); err != nil {
		var e *exec.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("--command: %s: %w", executable, err)
	}
	return p, nil
}

func (p *program) parseWords(line string, names []string) error {
	words, err := splitWords(line)
	if err != nil {
		return err
	}
	for _, w := range words {
		t, err := parseTemplate(w, names)
		if err != nil {
			return err
		}
		p.words = append(p.words, t)
	}
	return nil
}

func (p *program) parseShell(line string, names []string) error {
	if strings.TrimSpace(line) == "" {
		return errors.New("--command is empty")
	}
	t, err := parseTemplate(line, names)
	if err != nil {
		return err
	}
	p.names = map[string]string{}
	for i, name := range names {
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

// command returns the arguments and the additional environment of one run.
func (p *program) command(value func(name string) string) (argv, env []string) {
	if p.names == nil {
		for _, w := range p.words {
			argv = append(argv, w.fill(value))
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

// evaluate runs the program once. Parameters reach it by placeholder and as input, a JSON
// object on standard input. The objective's value is on the last non-empty line of its output.
func (p *program) evaluate(ctx context.Context, value func(name string) string, input []byte) (float64, error) {
	argv, env := p.command(value)
	run := ctx
	if p.timeout > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeout(ctx, p.timeout)
		defer cancel()
	}
	cmd := exec.CommandContext(run, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr tail
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	ownGroup(cmd)
	// After the program ends, or is killed, a child that left the group may
	// still hold its output open: wait no longer than this for it.
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		killGroup(cmd)
		err = nil
	}
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case run.Err() != nil:
			return 0, fmt.Errorf("no result within %v%s", p.timeout, stderr.quoted())
		}
		return 0, fmt.Errorf("%w%s", err, stderr.quoted())
	}
	line, whole := stdout.lastLine()
	y, err := parseResult(line)
	if !whole {
		err = fmt.Errorf("the last line of the output is longer than %d KiB: print the value on a line of its own", keep>>10)
	}
	if err != nil {
		return 0, fmt.Errorf("%w%s", err, stderr.quoted())
	}
	return y, nil
}

// parseResult reads a number, or the number under "value" of a JSON object.
func parseResult(line string) (float64, error) {
	if line == "" {
		return 0, errors.New("the program printed nothing")
	}
	y, err := strconv.ParseFloat(line, 64)
	if err != nil && !math.IsInf(y, 0) {
		var object struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal([]byte(line), &object) != nil {
			return 0, fmt.Errorf(`last line is neither a number nor a JSON object: %s`, brief(line))
		}
		if object.Value == nil {
			return 0, fmt.Errorf(`last line has no "value": %s`, brief(line))
		}
		if json.Unmarshal(object.Value, &y) != nil || string(object.Value) == "null" {
			return 0, fmt.Errorf(`"value" on the last line is not a number: %s`, brief(string(object.Value)))
		}
	}
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return 0, fmt.Errorf("the program printed %s, want a finite number", brief(line))
	}
	return y, nil
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

// A tail is a Writer that keeps the last bytes written to it.
type tail struct {
	data []byte
	lost bool // earlier bytes are dropped
}

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	if n > keep {
		b, t.data, t.lost = b[n-keep:], t.data[:0], true
	}
	t.data = append(t.data, b...)
	if len(t.data) > 2*keep {
		t.data, t.lost = append(t.data[:0], t.data[len(t.data)-keep:]...), true
	}
	return n, nil
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
