package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// table is a header and rows of as many cells.
type table [][]string

// writer writes a document as text or as Markdown.
type writer struct {
	strings.Builder
	markdown bool
}

func (w *writer) heading(text string) {
	if w.Len() > 0 {
		w.WriteString("\n")
	}
	if w.markdown {
		text = "### " + text
	}
	w.WriteString(text + "\n\n")
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// table writes the first column flush left, the others flush right.
func (w *writer) table(t table) {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for j, c := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(c))
		}
	}
	for i, row := range t {
		cells := make([]string, len(row))
		for j, c := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(c))
			if cells[j] = pad + c; j == 0 {
				cells[j] = c + pad
			}
		}
		if !w.markdown {
			w.line("%s", strings.TrimRight(strings.Join(cells, "   "), " "))
			continue
		}
		w.line("| %s |", strings.Join(cells, " | "))
		if i == 0 {
			for j := range cells {
				if cells[j] = strings.Repeat("-", widths[j]+1) + ":"; j == 0 {
					cells[j] = strings.Repeat("-", widths[j]+2)
				}
			}
			w.line("|%s|", strings.Join(cells, "|"))
		}
	}
}

func (o Origin) text() string {
	parts := []string{count(o.Runs, "run")}
	if from, to := day(o.From), day(o.To); from == to {
		parts = append(parts, from)
	} else {
		parts = append(parts, from+" to "+to)
	}
	if o.Version != "" && o.Version != "(devel)" {
		parts = append(parts, o.Version)
	}
	if o.Commit != "" {
		parts = append(parts, "commit "+o.Commit)
	}
	m := o.Machine
	for _, s := range []string{m.Go, strings.Trim(m.OS+"/"+m.Arch, "/"), m.CPU} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if m.Cores > 0 {
		parts = append(parts, fmt.Sprintf("%d cores, %s at a time", m.Cores, count(m.Workers, "run")))
	}
	return strings.Join(parts, ", ")
}

func day(date string) string { return date[:min(10, len(date))] }

// short writes two significant digits.
func short(x float64) string {
	if x != 0 && math.Abs(x) < 1e-3 {
		return fmt.Sprintf("%.1e", x)
	}
	if math.Abs(x) >= 100 && math.Abs(x) < 1e6 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

func seconds(s float64) string {
	unit := "s"
	switch {
	case s < 0.9995e-3:
		s, unit = 1e6*s, "µs"
	case s < 0.9995:
		s, unit = 1e3*s, "ms"
	}
	if s < 9.95 {
		return fmt.Sprintf("%.1f %s", s, unit)
	}
	return fmt.Sprintf("%.0f %s", s, unit)
}
