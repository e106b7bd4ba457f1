package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manPage returns the manual page of the commands under root, in the man macros of roff.
func manPage(root *kong.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH BO 1\n.SH NAME\nbo \\- Bayesian optimisation of expensive functions\n.SH SYNOPSIS\n")
	for i, leaf := range root.Leaves(true) {
		if i > 0 {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, ".B %s\n", roff(leaf.FullPath()+strings.TrimPrefix(leaf.Summary(), leaf.Path())))
	}
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, root.Help)
	b.WriteString(".SH COMMANDS\n")
	for _, leaf := range root.Leaves(true) {
		fmt.Fprintf(&b, ".SS %s\n", roff(leaf.FullPath()))
		manText(&b, leaf.Help)
		for _, p := range leaf.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff("<"+p.Name+">"), roff(p.Help))
		}
		for _, f := range leaf.Flags {
			if !f.Hidden {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(f.Summary()), roff(f.Help))
			}
		}
		if leaf.Detail != "" {
			b.WriteString(".PP\n")
			manText(&b, leaf.Detail)
		}
	}
	return b.String()
}

// manText writes paragraphs. Lines indented by four blanks stay as they are.
func manText(b *strings.Builder, text string) {
	literal := false
	for line := range strings.SplitSeq(text, "\n") {
		example, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == "":
			if !literal {
				b.WriteString(".PP\n")
			}
			continue
		case indented && !literal:
			b.WriteString(".RS 4\n.nf\n")
		case !indented && literal:
			b.WriteString(".fi\n.RE\n.PP\n")
		}
		literal = indented
		b.WriteString(roff(example) + "\n")
	}
	if literal {
		b.WriteString(".fi\n.RE\n")
	}
}

// roff escapes a line of text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
