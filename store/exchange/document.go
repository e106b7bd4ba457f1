package exchange

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Limits of the readers, in bytes.
const (
	MaxSize  = 1 << 28 // 256 MB, of documents, journals and databases
	MaxTable = 1 << 26 // 64 MB, of tables
)

// Errors of the readers.
var (
	// ErrFormat is wrapped by errors about the contents of a file.
	ErrFormat = errors.New("cannot be read")
	// ErrTooLarge reports more than MaxSize or MaxTable bytes.
	ErrTooLarge = errors.New("too large: documents, journals and databases may have 256 MB, tables 64 MB")
)

// ChoiceError reports a file of Optuna that has several studies or not the study of a name. It wraps ErrFormat.
type ChoiceError struct {
	Name    string   // wanted name; empty if none was given
	Studies []string // names of the studies in the file
}

// Error lists at most 50 studies.
func (e *ChoiceError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("it holds %d studies, name one: %s", len(e.Studies), e.List())
	}
	return fmt.Sprintf("it holds no study %q, only %s", e.Name, e.List())
}

// Unwrap returns ErrFormat.
func (e *ChoiceError) Unwrap() error { return ErrFormat }

// List returns the quoted names of at most 50 studies.
func (e *ChoiceError) List() string {
	var names []string
	for _, name := range e.Studies[:min(len(e.Studies), 50)] {
		names = append(names, strconv.Quote(name))
	}
	return strings.Join(names, ", ")
}

// unreadable wraps ErrFormat around an error that does not wrap it.
func unreadable(err error) error {
	if errors.Is(err, ErrFormat) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}

const (
	documentFormat  = "bo-export"
	documentVersion = 1
)

// Import is a study read from a file.
type Import struct {
	Snapshot *store.Snapshot
	// Name is the name of a study of Optuna. The name in the definition has other characters if the store does
	// not accept it.
	Name string
	// Notes are messages for the user about contents that a study cannot express.
	Notes    []string
	lines    []int                       // lines of the trials in the file; nil if a trial is not one entry of the file
	required map[string]loop.Requirement // requirements by the key of a constraint of Optuna
	unusable []string                    // complete trials of Optuna that are failed, with the reasons
	lost     map[string]bool             // user attributes of Optuna that are left out
	inexact  int                         // intermediate values of Optuna that are left out
}

// Locate adds the line of the file to an error of store.Store.Restore about a trial.
func (in *Import) Locate(err error) error {
	if f, ok := errors.AsType[*store.TrialFault](err); ok && f.Index < len(in.lines) {
		return fmt.Errorf("line %d, %w", in.lines[f.Index], f)
	}
	return err
}

func (in *Import) note(format string, args ...any) {
	in.Notes = append(in.Notes, fmt.Sprintf(format, args...))
}

// header is a Snapshot without its trials and steps.
type header struct {
	Definition *study.Definition `json:"definition"`
	Created    time.Time         `json:"created"`
	Warm       int               `json:"warm,omitempty"`
	Fits       []store.Fit       `json:"fits,omitempty"`
	Events     []store.Event     `json:"events,omitempty"`
}

func headerOf(s *store.Snapshot) header {
	return header{s.Definition, s.Created, s.Warm, s.Fits, s.Events}
}

// Write writes a study as one JSON document of version 1, with a line for each trial:
//
//	{"format": "bo-export", "version": 1, "definition": {…}, "created": "…", "warm": 2,
//	 "trials": [{"trial": 1, "params": {…}, "source": "design", "state": "complete", …}, …],
//	 "fits": […], "steps": […], "events": […]}
//
// Read gives the same snapshot.
func Write(w io.Writer, s *store.Snapshot) error {
	b := bufio.NewWriter(w)
	d := documentWriter{w: b}
	d.printf(`{"format":%q,"version":%d`, documentFormat, documentVersion)
	d.value("definition", s.Definition)
	d.value("created", s.Created)
	d.value("warm", s.Warm)
	writeList(&d, "trials", s.Trials)
	writeList(&d, "fits", s.Fits)
	writeList(&d, "steps", s.Steps)
	writeList(&d, "events", s.Events)
	d.printf("\n}\n")
	return errors.Join(d.err, b.Flush())
}

type documentWriter struct {
	w   *bufio.Writer
	err error
}

func (d *documentWriter) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format, args...)
	}
}

func (d *documentWriter) json(v any) {
	text, err := json.Marshal(v)
	if err != nil && d.err == nil {
		d.err = err
	}
	d.printf("%s", text)
}

func (d *documentWriter) value(key string, v any) {
	d.printf(",\n%q:", key)
	d.json(v)
}

func writeList[T any](d *documentWriter, key string, list []T) {
	d.printf(",\n%q:[", key)
	for i := range list {
		if i > 0 {
			d.printf(",")
		}
		d.printf("\n")
		d.json(&list[i])
	}
	d.printf("]")
}

// older matches the beginning of the state files that bo run --state and loop.Study.Save write.
var older = regexp.MustCompile(`^\s*\{\s*"format"\s*:\s*"(bo-run|bo-study)"`)

// Read reads a document of Write, or a state file of bo run --state or loop.Study.Save. It
// is strict: unknown and repeated keys, wrong types and text after the document are errors.
// Errors wrap ErrFormat or ErrTooLarge. Function store.Store.Restore validates that trials,
// fits and events agree.
func Read(r io.Reader) (*Import, error) {
	b := bufio.NewReader(&limited{r: r, left: MaxSize})
	start, err := b.Peek(256)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var in *Import
	if older.Match(start) {
		in, err = readState(b)
	} else {
		in, err = readDocument(b)
	}
	if err != nil && !errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return in, err
}

// limited is a reader that returns an error after a number of bytes.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, ErrTooLarge
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		return n, ErrTooLarge
	}
	return n, err
}

var documentKeys = []string{"format", "version", "definition", "created", "warm", "trials", "fits", "steps", "events"}

// readDocument decodes entry by entry, so that memory holds little more than the result.
func readDocument(r io.Reader) (*Import, error) {
	text := &source{r: r, line: 1}
	dec := json.NewDecoder(text)
	dec.DisallowUnknownFields()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, firstOf(tooLarge(err), errors.New("not an export of bo: want an object {…}"))
	}
	s := &store.Snapshot{}
	seen := map[string]bool{}
	var lines []int
	var format string
	var version int
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string)
		if seen[key] {
			return nil, fmt.Errorf("key %q occurs twice", key)
		}
		seen[key] = true
		switch key {
		case "format":
			if err = dec.Decode(&format); err == nil && format != documentFormat {
				err = fmt.Errorf("%q, want %q", format, documentFormat)
			}
		case "version":
			if err = dec.Decode(&version); err == nil && version > documentVersion {
				err = fmt.Errorf("%d is newer than %d, the newest that this program reads", version, documentVersion)
			} else if err == nil && version < 1 {
				err = fmt.Errorf("%d, want 1 to %d", version, documentVersion)
			}
		case "definition":
			var raw json.RawMessage
			if err = dec.Decode(&raw); err == nil {
				s.Definition, err = study.Parse(raw)
			}
		case "created":
			err = dec.Decode(&s.Created)
		case "warm":
			err = dec.Decode(&s.Warm)
		case "trials":
			s.Trials, lines, err = readList[store.Trial](dec, text, key)
		case "fits":
			s.Fits, _, err = readList[store.Fit](dec, text, key)
		case "steps":
			s.Steps, _, err = readList[store.Step](dec, text, key)
		case "events":
			s.Events, _, err = readList[store.Event](dec, text, key)
		default:
			return nil, fmt.Errorf("unknown key %q%s", key, didyoumean.Hint(key, documentKeys))
		}
		if _, placed := errors.AsType[*entryFault](err); placed {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, cut(err))
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, cut(err)
	}
	for _, key := range []string{"format", "version", "definition", "trials"} {
		if !seen[key] {
			return nil, fmt.Errorf("key %q is missing", key)
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, firstOf(tooLarge(err), errors.New("text follows the document"))
	}
	return &Import{Snapshot: s, lines: lines}, nil
}

// readList returns the entries of a list and their lines.
func readList[T any](dec *json.Decoder, text *source, name string) (list []T, lines []int, err error) {
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, nil, firstOf(tooLarge(err), errors.New("want a list […]"))
	}
	for dec.More() {
		var v T
		line, err := decodeEntry(dec, text, name, len(list)+1, &v)
		if err != nil {
			return nil, nil, err
		}
		list, lines = append(list, v), append(lines, line)
	}
	_, err = dec.Token()
	return list, lines, err
}

// cut replaces the error of a file that ends too early.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends in the middle")
	}
	return err
}

// tooLarge returns err if it reports a file above the limit.
func tooLarge(err error) error {
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	return nil
}

// firstOf returns the first error that is not nil.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
