package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/functionspace/bo/insight"
	insightreport "github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/store"
)

type reportCmd struct {
	storeFlags
	Study  string   `arg:"" complete:"studies" help:"Name of the study."`
	Output string   `short:"o" group:"result" placeholder:"FILE" help:"File to write, with the end .html; - is standard output. Default: STUDY.html."`
	Map    []string `group:"result" sep:"none" placeholder:"NAME" help:"Draw maps of all pairs of these parameters. Repeat for 2 to 8. Default: the four most important ones."`
	Force  bool     `group:"result" help:"Replace a file that is not a report of this command."`
	JSON   bool     `group:"result" name:"json" help:"Print the data of the report as one JSON object instead."`
}

func (reportCmd) Help() string {
	return fmt.Sprintf(`Writes one HTML file with pictures and tables of the study and its surrogate model: history, predictions along each parameter and over pairs of them, importance, calibration, parallel coordinates, the Pareto front, the timeline of the workers, learning curves, reasons for the next point, and all trials. The file loads nothing from elsewhere.

With more than %d finished trials the surrogate model is fitted to %d of them, and with more than %d the file has %d of them, equally spaced in their order. The file says so.

Examples:

    bo report resnet -o report.html
    bo report resnet --map rate --map layers --map width`, insightreport.MaxFitted, insightreport.MaxFitted, insightreport.MaxTrials, insightreport.MaxTrials)
}

func (c *reportCmd) Run(e *env) error {
	path := c.Output
	if path == "" {
		path = c.Study + ".html"
	}
	if !c.JSON {
		if path != "-" && filepath.Ext(path) != ".html" {
			return usagef("%s: want a name that ends in .html", path)
		}
		if err := c.own(path); err != nil {
			return err
		}
	}
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		v, err := u.Brief(e.ctx)
		if err != nil {
			return err
		}
		var out *insightreport.Report
		ctx, stop := watch(e.ctx, e.stderr, min(finishedTrials(v), insightreport.MaxFitted))
		err = heed(e.ctx, func() (err error) {
			out, err = insightreport.Build(ctx, u, insightreport.Options{Maps: c.Map})
			return err
		})
		stop()
		switch {
		case errors.Is(err, insight.ErrArgument):
			return usagef("--map: %s", strings.TrimPrefix(err.Error(), insight.ErrArgument.Error()+": "))
		case err != nil:
			return err
		case c.JSON:
			return printJSON(e.stdout, out)
		case path == "-":
			return out.WriteHTML(e.stdout)
		}
		if err := writeFile(path, out.WriteHTML); err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.stdout, path)
		return err
	})
}

// own returns an error if a file exists at path that is not a report, unless --force is given.
func (c *reportCmd) own(path string) error {
	if path == "-" || c.Force || regular(path) != nil {
		return nil // writeFile reports a file that is not regular; to open a pipe would block
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	start := make([]byte, len(insightreport.Start))
	n, err := io.ReadFull(f, start)
	if n > 0 && (err != nil || string(start) != insightreport.Start) {
		return fmt.Errorf("%s exists and is not a report: choose another name, or add --force", path)
	}
	return nil
}
