package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// maxInspected bounds the finished trials of a fit for display, and so its time and memory.
const maxInspected = 1000

// inspection is the history of a study from which surrogate models are fitted for display.
type inspection struct {
	space    *space.Space
	options  loop.Options
	history  loop.History // with at most limit finished trials
	limit    int          // of the finished trials of history
	finished int          // finished trials of the study that fit its space
	complete int
}

// newInspection reads a study, for fits to at most limit finished trials.
func newInspection(ctx context.Context, u *store.Study, limit int) (*inspection, error) {
	sp, o, h, err := u.History(ctx)
	if err != nil {
		return nil, err
	}
	warm, err := u.Warm(ctx)
	if err != nil {
		return nil, err
	}
	in := &inspection{space: sp, options: o, history: loop.History{Trials: insight.Sample(h.Trials, o, limit), Warm: warm}, limit: limit}
	for i := range h.Trials {
		if h.Trials[i].State != loop.Pending {
			in.finished++
		}
		if h.Trials[i].State == loop.Complete {
			in.complete++
		}
	}
	return in, nil
}

// bounded describes the trials of the fits if they are not all finished trials, or returns "".
func (in *inspection) bounded() string {
	if in.finished <= in.limit {
		return ""
	}
	return fmt.Sprintf("fits use %d of %d finished trials, equally spaced in their order", in.limit, in.finished)
}

// objectives returns the names of several objectives, or "" for a single one.
func (in *inspection) objectives() []string {
	if !in.options.Several() {
		return []string{""}
	}
	var names []string
	for _, g := range in.options.Objectives {
		names = append(names, g.Name)
	}
	return names
}

// view fits the surrogate model of the study, for the display of one of its objectives.
func (in *inspection) view(ctx context.Context, objective string) (*loop.View, error) {
	if objective == "" {
		return loop.Inspect(ctx, in.space, in.options, in.history)
	}
	return loop.InspectObjective(ctx, in.space, in.options, in.history, objective)
}

// views fits the surrogate models of the study: of the objectives, and then of the outcome constraints.
func (in *inspection) views(ctx context.Context) ([]*loop.View, error) {
	return loop.InspectAll(ctx, in.space, in.options, in.history)
}

// conflicts describes complete trials that contradict a noise-free objective, or returns "".
func (in *inspection) conflicts() string {
	if !in.options.NoiseFree {
		return ""
	}
	return conflictFault(loop.Conflicts(in.history.Trials))
}

// longRun is the number of infeasible suggestions in a row that broken reports. If each of them were feasible with a
// probability of ½, a run of this length would have a probability of 3 %.
const longRun = 5

// broken describes outcome constraints that none of the last suggestions meets, or returns "".
func (in *inspection) broken() string {
	var last []*loop.Trial
	trials := in.history.Trials
	for i := len(trials) - 1; i >= 0 && len(last) < longRun; i-- {
		if t := &trials[i]; t.State == loop.Complete && t.Source == loop.Suggested {
			last = append(last, t)
		} else if t.State != loop.Pending {
			break
		}
	}
	if len(last) < longRun {
		return ""
	}
	var names []string
	for _, r := range in.options.Require {
		if !slices.ContainsFunc(last, func(t *loop.Trial) bool { return r.Met(t.Numbers[r.Name]) }) {
			names = append(names, r.String())
		}
	}
	if names == nil {
		return ""
	}
	text := fmt.Sprintf("the last %d suggestions break %s", longRun, strings.Join(names, " and "))
	if !in.options.NoiseFree && !in.options.Several() {
		text += ": if equal points have equal results, set noise_free, which searches closer to feasible trials"
	}
	return text
}

// outputWidth returns the width of the terminal w, at most 120; 80 if w is no terminal.
func outputWidth(w io.Writer) int {
	if width := terminal(w); width != nil {
		return min(width(), 120)
	}
	return 80
}

// fold writes a line as a paragraph of at most width columns: a name, padded to 12 columns, and
// words. Further lines have blanks in place of the name. A word that is too long has a line of its own.
func fold(b *strings.Builder, name, text string, width int) {
	const indent = 13
	line := fmt.Sprintf("%-*s", indent, name)
	column := len([]rune(line))
	first := true
	for word := range strings.SplitSeq(text, " ") {
		size := len([]rune(word))
		if !first && column+1+size > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, column, first = strings.Repeat(" ", indent), indent, true
		}
		if !first {
			line, column = line+" ", column+1
		}
		line, column, first = line+word, column+size, false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
