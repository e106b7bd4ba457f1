package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/server/internal/wire"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

// CreateStudy stores a study.
func (s *service) CreateStudy(ctx context.Context, r *bov1.CreateStudyRequest) (*bov1.CreateStudyResponse, error) {
	if err := checkTexts("key", r.Key); err != nil {
		return nil, err
	}
	if r.Definition == nil {
		return nil, invalid("the definition is missing")
	}
	text, err := wire.Definition(r.Definition)
	if err != nil {
		return nil, err
	}
	d, err := study.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := permit(ctx, d.Name); err != nil {
		return nil, err
	}
	if err := s.checkSize(d); err != nil {
		return nil, err
	}
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	created, err := s.store.CreateOnce(ctx, r.Key, d)
	if err != nil {
		return nil, err
	}
	info, err := created.Summary(ctx)
	if err != nil {
		return nil, err
	}
	return &bov1.CreateStudyResponse{Name: info.Name, Created: stamp(info.Created)}, nil
}

// EditStudy changes the definition of a study.
func (s *service) EditStudy(ctx context.Context, r *bov1.EditStudyRequest) (*bov1.EditStudyResponse, error) {
	if len(r.Changes.GetFields()) == 0 {
		return nil, invalid("the changes are missing")
	}
	text, err := wire.Definition(r.Changes)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	if err := u.study.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
		changed, err := changed(&d, text)
		if err == nil {
			err = s.checkSize(changed)
		}
		return changed, err
	}); err != nil {
		return nil, err
	}
	u.changed.Send()
	v, err := u.study.Brief(ctx)
	if err != nil {
		return nil, err
	}
	m := &bov1.EditStudyResponse{LeftOut: int32(v.LeftOut())}
	m.Definition, err = wire.Defined(v.Definition)
	return m, err
}

// changed returns a definition with other values of the keys in a JSON object. The value null removes a key.
func changed(d *study.Definition, changes json.RawMessage) (*study.Definition, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var keys, values map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &keys), json.Unmarshal(changes, &values)); err != nil {
		return nil, err
	}
	for key, value := range values {
		if keys[key] = value; string(value) == "null" {
			delete(keys, key)
		}
	}
	if text, err = json.Marshal(keys); err != nil {
		return nil, err
	}
	return study.Parse(text)
}

// DeleteStudy deletes a study and all its trials.
func (s *service) DeleteStudy(ctx context.Context, r *bov1.DeleteStudyRequest) (*bov1.DeleteStudyResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	if err := study.CheckName(r.Study); err != nil {
		return nil, invalid("study: %w", err)
	}
	if err := permit(ctx, r.Study); err != nil {
		return nil, err
	}
	if err := s.store.Delete(ctx, r.Study); err != nil {
		return nil, err
	}
	s.deleted(r.Study)
	return &bov1.DeleteStudyResponse{}, nil
}

// GetStudy returns a study with its definition and its best trials.
func (s *service) GetStudy(ctx context.Context, r *bov1.GetStudyRequest) (*bov1.GetStudyResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	info, err := u.study.Summary(ctx)
	if err != nil {
		return nil, err
	}
	v, err := u.study.Brief(ctx)
	if err != nil {
		return nil, err
	}
	m := &bov1.GetStudyResponse{Study: summaryMessage(info), Fitting: v.Fitting}
	if m.Definition, err = wire.Defined(v.Definition); err != nil {
		return nil, err
	}
	for i := range v.Trials {
		switch t := &v.Trials[i]; {
		case t.Running(v.Now):
			m.Running++
		case t.State == store.Pending:
			m.Waiting++
		case t.State == store.Failed:
			m.Failed++
		}
	}
	if m.Best, err = bestMessages(v); err != nil {
		return nil, err
	}
	if m.Running+m.Waiting > 0 {
		return m, nil
	}
	ended, err := u.study.Ended(ctx)
	if err != nil {
		return nil, err
	}
	if ended != nil {
		m.Ended = strings.TrimPrefix(ended.Error(), "study "+r.Study+": ")
	} else if left := info.Budget - (info.Trials - info.Added); left <= 0 {
		m.Ended = fmt.Sprintf("%v: %d trials count against the budget of %d (bo study edit %s --budget N raises the budget)", store.ErrBudget, info.Trials-info.Added, info.Budget, r.Study)
	}
	return m, nil
}

// bestMessages returns the best trial, or the Pareto front of several objectives.
func bestMessages(v *store.View) ([]*bov1.Trial, error) {
	var best []store.Trial
	if v.Definition.Several() {
		for _, t := range v.Pareto().Front {
			best = append(best, v.Trials[t.ID-1])
		}
	} else if t := v.Best(); t != nil {
		best = append(best, *t)
	}
	return trialMessages(best, v.Now)
}

func summaryMessage(l *store.Summary) *bov1.Study {
	return &bov1.Study{
		Name: l.Name, Created: stamp(l.Created), Budget: int32(l.Budget), Trials: int32(l.Trials), Finished: int32(l.Finished),
		Added: int32(l.Added), Revision: uint32(l.Revision), Fault: l.Fault,
	}
}

// ListStudies returns the studies that the token permits in the order of their names.
func (s *service) ListStudies(ctx context.Context, r *bov1.ListStudiesRequest) (*bov1.ListStudiesResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	n, after, err := pageOf(r.PageSize, r.PageToken)
	if err != nil {
		return nil, err
	}
	list, err := s.store.List(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(l store.Summary) bool { return l.Name <= after || permit(ctx, l.Name) != nil })
	m := &bov1.ListStudiesResponse{}
	if len(list) > n {
		list = list[:n]
		m.NextPageToken = pageToken(list[n-1].Name)
	}
	for i := range list {
		m.Studies = append(m.Studies, summaryMessage(&list[i]))
	}
	return m, nil
}

// Export returns the document of bo study export.
func (s *service) Export(ctx context.Context, r *bov1.ExportRequest) (*bov1.ExportResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	snapshot, err := u.study.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := exchange.Write(&text, snapshot); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	return &bov1.ExportResponse{Document: strings.ToValidUTF8(text.String(), "\ufffd")}, nil
}
