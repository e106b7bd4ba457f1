package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/functionspace/bo/loop"
)

const (
	stateFormat  = "bo-run"
	stateVersion = 1
)

// A runState is the file of --state: the arguments that suggestions depend on,
// and the study.
type runState struct {
	Format    string          `json:"format"`
	Version   int             `json:"version"`
	Arguments []argument      `json:"arguments"`
	Study     json.RawMessage `json:"study"`
}

// An argument is a flag as given, for comparison.
type argument struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// openStudy resumes the study in the file at path, or starts one if there is no
// such file.
func openStudy(path string, args []argument, t *target, o loop.Options) (study *loop.Study, resumed bool, err error) {
	if path != "" {
		text, err := readRegular(path)
		switch {
		case err == nil:
			study, err = resume(text, args, o)
			if err != nil {
				return nil, false, fmt.Errorf("%s: %w", path, err)
			}
			return study, true, nil
		case !errors.Is(err, os.ErrNotExist):
			return nil, false, err
		}
	}
	study, err = loop.New(t.space, o)
	return study, false, err
}

func resume(text []byte, args []argument, o loop.Options) (*loop.Study, error) {
	var s runState
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("not a state that bo run saved: %w", err)
	}
	if s.Format != stateFormat {
		return nil, errors.New("not a state that bo run saved")
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("state of version %d, this program reads %d", s.Version, stateVersion)
	}
	saved := map[string]string{}
	for _, a := range s.Arguments {
		saved[a.Flag] = a.Value
	}
	for _, a := range args {
		if was, ok := saved[a.Flag]; ok && was != a.Value {
			old, now := argument{a.Flag, was}.String(), a.String()
			if old == now { // both too long to show
				now = "this one"
			}
			return nil, usagef("saved by a run with %s, now it is %s; give the same arguments or another --state", old, now)
		}
	}
	study, err := loop.Resume(bytes.NewReader(s.Study), o)
	if errors.Is(err, loop.ErrMismatch) {
		err = usageError{err}
	}
	return study, err
}

func (a argument) String() string {
	switch {
	case a.Value == "" || a.Value == "false":
		return "no " + a.Flag
	case a.Value == "true":
		return a.Flag
	case len(a.Value) > 60:
		return "another " + a.Flag
	}
	if strings.HasPrefix(a.Flag, "--set ") {
		return a.Flag + "=" + a.Value
	}
	return a.Flag + " " + a.Value
}

func saveStudy(path string, args []argument, study *loop.Study) error {
	var b bytes.Buffer
	if err := study.Save(&b); err != nil {
		return err
	}
	return writeFile(path, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(runState{stateFormat, stateVersion, args, b.Bytes()})
	})
}
