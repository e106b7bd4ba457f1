package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

type studyExportCmd struct {
	storeFlags
	Study  string `arg:"" complete:"studies" help:"Name of the study."`
	Format string `group:"result" enum:"json,optuna,csv,csv-semicolons" default:"json" placeholder:"FORMAT" help:"json (the whole study), optuna (journal file of Optuna 5), csv (table of trials) or csv-semicolons (with decimal commas, as spreadsheets open in German or French). Default: ${default}."`
	Output string `group:"result" short:"o" placeholder:"FILE" help:"File to write; - is standard output. Default: -."`
	Force  bool   `group:"result" help:"Replace the file of --output."`
}

func (c *studyExportCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		snapshot, err := u.Snapshot(e.ctx)
		if err != nil {
			return err
		}
		write := map[string]func(io.Writer, *store.Snapshot) error{"json": exchange.Write, "optuna": exchange.WriteJournal, "csv": func(w io.Writer, s *store.Snapshot) error {
			return exchange.WriteCSV(w, s.Definition, s.Trials)
		}, "csv-semicolons": func(w io.Writer, s *store.Snapshot) error {
			return exchange.WriteSemicolons(w, s.Definition, s.Trials)
		}}[c.Format]
		if c.Output == "" || c.Output == "-" {
			return write(e.stdout, snapshot)
		}
		if _, err := os.Stat(c.Output); err == nil && !c.Force {
			return fmt.Errorf("%s exists: choose another name, or add --force", c.Output)
		}
		return writeFile(c.Output, func(w io.Writer) error { return write(w, snapshot) })
	})
}

type studyImportCmd struct {
	storeFlags
	File  string `arg:"" help:"File to read: an export of bo, a --state file of an earlier version, or a journal or SQLite file of Optuna."`
	Study string `group:"store" placeholder:"NAME" help:"Name of the new study. Default: the name in the file."`
	From  string `group:"what" placeholder:"NAME" help:"Name of the study in a file of Optuna that has several."`
	JSON  bool   `group:"result" name:"json" help:"Print the imported definition as JSON."`
}

func (studyImportCmd) Help() string {
	return `Makes a new study from a file. bo import adds evaluations to a study that exists.

Examples:

    bo study import resnet.json
    bo study import optuna.db --from resnet --study resnet
    bo study import run.state --study branin`
}

func (c *studyImportCmd) Run(e *env) error {
	in, err := readImport(e, c.File, c.From)
	if err != nil {
		return err
	}
	name := c.Study
	if name == "" && in.Snapshot.Definition.Name == "" {
		return usagef("%s has no study name: give --study NAME", c.File)
	}
	return c.withStore(e.ctx, true, func(s *store.Store) error {
		u, err := s.Restore(e.ctx, name, in.Snapshot)
		if err != nil {
			if placed := in.Locate(err); placed != err {
				return fmt.Errorf("%s: %w", c.File, placed)
			}
			return asRefusal(asUsage(err, study.ErrInvalid), store.ErrExists)
		}
		notes(e, c.File, in.Notes)
		v, err := u.Brief(e.ctx)
		if err != nil {
			return err
		}
		noteUnfit(e, c.File, v)
		if c.JSON {
			return printJSON(e.stdout, v.Definition)
		}
		title := u.Name()
		if name == "" && in.Name != "" && in.Name != title {
			title += fmt.Sprintf(" (in the file %q)", in.Name)
		}
		_, err = fmt.Fprintf(e.stdout, "imported study %s: %s\n", title, count(len(in.Snapshot.Trials), "trial"))
		return err
	})
}

// noteUnfit names the imported trials that do not fit the definition, with their faults, and counts them.
func noteUnfit(e *env, path string, v *store.View) {
	wrong := faults.List{What: "trials"}
	for i := range v.Trials {
		if v.Points[i].Space() == nil {
			wrong.Add(fmt.Errorf("trial %d: %w", v.Trials[i].Number, v.Fault(i)))
		}
	}
	for _, fault := range wrong.Errors() {
		notes(e, path, []string{oneLine(fault.Error())})
	}
	warnUnfit(e, v, "definition of the study")
}

type importCmd struct {
	storeFlags
	Study string `arg:"" complete:"studies" help:"Name of the study."`
	File  string `arg:"" help:"Evaluated points: a CSV table, an export of bo, or a journal or SQLite file of Optuna."`
	From  string `group:"what" placeholder:"NAME" help:"Name of the study in a file of Optuna that has several."`
	Key   string `placeholder:"TEXT" help:"Name of the request. A repeated request with the same name changes nothing."`
	JSON  bool   `group:"result" name:"json" help:"Print the number of added trials as JSON."`
}

func (c *importCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		before := 0
		if c.Key != "" {
			v, err := u.Brief(e.ctx)
			if err != nil {
				return err
			}
			before = len(v.Trials)
		}
		added, err := c.add(e, u)
		if err != nil {
			return err
		}
		if len(added) > 0 && added[0].Number <= before {
			return c.printRepeated(e)
		}
		if err := c.noteRepeated(e, u, added); err != nil {
			return err
		}
		if err := warnConflicts(e, u); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(e.stdout, map[string]int{"added": len(added)})
		}
		_, err = fmt.Fprintf(e.stdout, "added %s to study %s\n", count(len(added), "trial"), c.Study)
		return err
	})
}

// printRepeated prints that a repeated request added nothing.
func (c *importCmd) printRepeated(e *env) error {
	if c.JSON {
		return printJSON(e.stdout, map[string]int{"added": 0})
	}
	_, err := fmt.Fprintf(e.stdout, "the key %s was used before: nothing added to study %s\n", c.Key, c.Study)
	return err
}

// noteRepeated reports added trials with the parameters and the result of another added trial, and of an
// earlier trial, which a second import of the same file adds.
func (c *importCmd) noteRepeated(e *env, u *store.Study, added []store.Trial) error {
	if len(added) == 0 {
		return nil
	}
	v, err := u.Brief(e.ctx)
	if err != nil {
		return err
	}
	key := func(t *store.Trial) string { return fmt.Sprint(string(t.Params), t.State, t.Numbers) }
	earlier := map[string]bool{}
	for i := range min(added[0].Number-1, len(v.Trials)) {
		earlier[key(&v.Trials[i])] = true
	}
	within := map[string]bool{}
	var again, twice []int // numbers of trials as earlier ones, and as others of the file
	for i := range added {
		k := key(&added[i])
		if earlier[k] {
			again = append(again, added[i].Number)
		}
		if within[k] {
			twice = append(twice, added[i].Number)
		}
		within[k] = true
	}
	note := func(repeated []int, of, remedy string) {
		if len(repeated) > 0 {
			notes(e, c.File, []string{fmt.Sprintf("%d of %d added trials have the parameters and the result of %s, and count once more: %s; bo fail %s %d --lost --correct leaves trial %[6]d out",
				len(repeated), len(added), of, remedy, c.Study, repeated[0])})
		}
	}
	note(twice, "another trial of the file", "delete rows that are no repeated measurements")
	note(again, "earlier trials of study "+c.Study, "with --key NAME a repeated import adds nothing")
	return nil
}

// add adds the evaluations in the file.
func (c *importCmd) add(e *env, u *store.Study) ([]store.Trial, error) {
	switch strings.ToLower(filepath.Ext(c.File)) {
	case ".csv", ".tsv":
		return c.table(e, u)
	}
	in, err := readImport(e, c.File, c.From)
	if err != nil {
		return nil, err
	}
	notes(e, c.File, in.Notes)
	if n := pending(in.Snapshot.Trials); n > 0 {
		notes(e, c.File, []string{fmt.Sprintf("pending trials are left out: %d", n)})
	}
	d, _, err := u.Definition(e.ctx)
	if err != nil {
		return nil, err
	}
	if names := otherParameters(in.Snapshot.Trials, d); len(names) > 0 {
		notes(e, c.File, []string{fmt.Sprintf("parameters that study %s does not have are left out: %s", c.Study, strings.Join(names, ", "))})
	}
	added, err := exchange.Add(e.ctx, u, c.Key, in)
	return added, c.wrong(e, err)
}

// wrong prints the faults of several rows or trials of the file, one on a line, and returns the error
// that ends the command.
func (c *importCmd) wrong(e *env, err error) error {
	list, ok := errors.AsType[space.Faults](err)
	switch {
	case !ok:
		return err
	case len(list) == 1:
		return fmt.Errorf("%s: %s", c.File, strings.TrimPrefix(list.Error(), c.File+": "))
	}
	for _, fault := range list {
		notes(e, c.File, []string{oneLine(fault.Error())})
	}
	return fmt.Errorf("%s: nothing is imported", c.File)
}

// pending returns the number of pending trials.
func pending(trials []store.Trial) int {
	n := 0
	for i := range trials {
		if trials[i].State == store.Pending {
			n++
		}
	}
	return n
}

// otherParameters returns the parameters of trials that a study does not have, sorted.
func otherParameters(trials []store.Trial, d *study.Definition) []string {
	other := map[string]bool{}
	for i := range trials {
		flatjson.Names(string(trials[i].Params), func(name string) { other[name] = true })
	}
	for _, p := range d.Parameters {
		delete(other, p.Name)
	}
	return slices.Sorted(maps.Keys(other))
}

// table adds the rows of a CSV file.
func (c *importCmd) table(e *env, u *store.Study) ([]store.Trial, error) {
	d, _, err := u.Definition(e.ctx)
	if err != nil {
		return nil, err
	}
	if err := regular(c.File); err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	evaluated, found, err := exchange.ReadCSV(c.File, f, d)
	if _, ok := errors.AsType[space.Faults](err); ok {
		return nil, c.wrong(e, err)
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), exchange.ErrFormat.Error()+": ")) // the message names the file
	}
	notes(e, c.File, found)
	return u.Add(e.ctx, c.Key, evaluated...)
}

// readImport reads a file. The first bytes of the file determine its format.
func readImport(e *env, path, from string) (*exchange.Import, error) {
	if err := regular(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var in *exchange.Import
	switch text := bytes.TrimSpace(head); {
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		in, err = exchange.ReadSQLite(e.ctx, path, from)
	case bytes.Contains(head[:max(0, min(len(head), bytes.IndexByte(head, '\n')))], []byte(`"op_code"`)):
		in, err = exchange.ReadJournal(f, from)
	case len(text) > 0 && text[0] != '{':
		return nil, fmt.Errorf("%s: not an export of bo, and neither a journal nor an SQLite file of Optuna; bo import STUDY FILE.csv adds a table to a study", path)
	default:
		in, err = exchange.Read(f)
	}
	if choice, ok := errors.AsType[*exchange.ChoiceError](err); ok && from == "" {
		return nil, fmt.Errorf("%s: it holds %d studies, name one with --from: %s", path, len(choice.Studies), choice.List())
	}
	if err != nil {
		if !strings.Contains(err.Error(), path) {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return nil, err
	}
	return in, nil
}

// notes prints the notes of an import.
func notes(e *env, path string, texts []string) {
	for _, text := range texts {
		fmt.Fprintf(e.stderr, "bo: %s: %s\n", path, strings.TrimPrefix(text, path+": "))
	}
}
