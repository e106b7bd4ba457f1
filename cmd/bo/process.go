package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// keep is how much of the end of a program's output is held: a program may
// flood its output and costs no more memory.
const keep = 64 << 10

// A program is an objective outside the process: a command line with
// placeholders for the parameters.
type program struct {
	words   []template
	shell   bool
	timeout time.Duration // per trial; 0 is none
}

// newProgram reads a command line whose placeholders are among names. The
// second error is one of the machine, not of the user's line: the command is
// not to be found.
func newProgram(line string, names []string, shell bool, timeout time.Duration) (*program, error) {
	words := []string{line}
	if !shell {
		var err error
		if words, err = splitWords(line); err != nil {
			return nil, usageError{err}
		}
	} else if strings.TrimSpace(line) == "" {
		return nil, usageError{errors.New("--command is empty")}
	}
	p := &program{shell: shell, timeout: timeout}
	for _, w := range words {
		t, err := parseTemplate(w, names)
		if err != nil {
			return nil, usageError{err}
		}
		p.words = append(p.words, t)
	}
	name := shellName()
	if !shell {
		if len(p.words[0].names) > 0 {
			return p, nil
		}
		name = p.words[0].fill(nil)
	}
	if _, err := exec.LookPath(name); err != nil {
		var e *exec.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("--command: %s: %w", name, err)
	}
	return p, nil
}

func shellName() string {
	if runtime.GOOS == "windows" {
		return "cmd"
	}
	return "sh"
}

// evaluate runs the program once. Parameters reach it by placeholder and as
// input, a JSON object on standard input. The objective's value is on the last
// non-empty line of its output.
func (p *program) evaluate(ctx context.Context, value func(name string) string, input []byte) (float64, error) {
	var argv []string
	if p.shell {
		flag := "-c"
		if runtime.GOOS == "windows" {
			flag = "/c"
		}
		argv = []string{shellName(), flag, p.words[0].fill(func(name string) string { return shellQuote(value(name)) })}
	} else {
		for _, w := range p.words {
			argv = append(argv, w.fill(value))
		}
	}
	run := ctx
	if p.timeout > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeout(ctx, p.timeout)
		defer cancel()
	}
	cmd := exec.CommandContext(run, argv[0], argv[1:]...)
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
			return 0, fmt.Errorf("no result within %v%s", p.timeout, stderr.says())
		}
		return 0, fmt.Errorf("%w%s", err, stderr.says())
	}
	y, err := parseResult(stdout.lastLine())
	if err != nil {
		return 0, fmt.Errorf("%w%s", err, stderr.says())
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
		return 0, fmt.Errorf("the program returned %v", y)
	}
	return y, nil
}

// brief shortens a line for a message.
func brief(line string) string {
	r := []rune(strings.ToValidUTF8(line, "\uFFFD"))
	if len(r) > 80 {
		return fmt.Sprintf("%q…", string(r[:80]))
	}
	return fmt.Sprintf("%q", string(r))
}

// A tail is a Writer that keeps the last bytes written to it.
type tail struct {
	data []byte
}

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	b = b[max(0, n-keep):]
	t.data = append(t.data, b...)
	if len(t.data) > 2*keep {
		t.data = append(t.data[:0], t.data[len(t.data)-keep:]...)
	}
	return n, nil
}

// lastLine returns the last line that is not blank, trimmed.
func (t *tail) lastLine() string {
	text := strings.TrimSpace(string(t.data[max(0, len(t.data)-keep):]))
	return strings.TrimSpace(text[strings.LastIndexAny(text, "\r\n")+1:])
}

// says quotes the last line for the end of a message.
func (t *tail) says() string {
	if line := t.lastLine(); line != "" {
		return "; stderr ends " + brief(line)
	}
	return ""
}
