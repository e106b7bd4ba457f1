package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// picturesPage is the data of the page of pictures.
type picturesPage struct {
	Name     string
	Version  string
	Complete bool     // there is a complete trial to fit
	Ready    bool     // the models of this version are in memory
	Params   []string // that maps may have
	Most     int      // parameters of maps
}

// pictures serves the page of the pictures. Its script loads the records, and the models when a reader
// wants them.
func (d *Dashboard) pictures(w http.ResponseWriter, r *http.Request) error {
	ctx, name := r.Context(), r.PathValue("study")
	u, s, err := d.open(r)
	if err != nil {
		return err
	}
	_, sp, err := u.Definition(ctx)
	if err != nil {
		return err
	}
	page := picturesPage{Name: name, Version: fmt.Sprintf("%x", version(s)), Complete: s.Finished > 0, Ready: d.jobs.finished(modelKey(s, nil)), Most: report.MaxMapped}
	for _, p := range sp.Parameters() {
		if p.Kind != space.KindFixed {
			page.Params = append(page.Params, p.Name)
		}
	}
	return d.render(w, r, http.StatusOK, "pictures", frame{Title: "Pictures of " + name, Study: name, Tab: "pictures"}, page)
}

// records serves the data of the pictures that need no fit.
func (d *Dashboard) records(w http.ResponseWriter, r *http.Request) error {
	u, err := d.handleOf(r)
	if err != nil {
		return err
	}
	out, err := report.BuildRecords(r.Context(), u)
	if err != nil {
		return err
	}
	return writeJSON(w, out)
}

// models sends the data of all pictures, after the fits.
func (d *Dashboard) models(w http.ResponseWriter, r *http.Request) error {
	u, err := d.handleOf(r)
	if err != nil {
		return err
	}
	s, err := u.Summary(r.Context())
	if err != nil {
		return err
	}
	maps := r.URL.Query()["map"]
	if len(maps) > report.MaxMapped {
		maps = maps[:report.MaxMapped]
	}
	return d.followJob(w, r, modelKey(s, maps), func(ctx context.Context) (any, error) {
		out, err := report.Build(ctx, u, report.Options{Maps: maps})
		if errors.Is(err, insight.ErrArgument) {
			err = plainError{err}
		}
		return out, err
	})
}

// modelKey is the key of the models of a version of a study.
func modelKey(s *store.Summary, maps []string) string {
	text, _ := json.Marshal(maps) // strings have a JSON form
	return fmt.Sprintf("models of %s at %x with maps of %s", s.Name, version(s), text)
}

// handleOf returns a handle of the study of a request that no other request uses. Its copy of the trials
// has all fields, and is dropped with it.
func (d *Dashboard) handleOf(r *http.Request) (*store.Study, error) {
	if _, _, err := d.Study(r.Context(), r.PathValue("study")); err != nil {
		return nil, err
	}
	return d.Store.Study(r.Context(), r.PathValue("study"))
}

func writeJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
	return nil
}

func isNoStudy(err error) bool { return errors.Is(err, store.ErrNoStudy) }
