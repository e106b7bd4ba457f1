package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/functionspace/bo/internal/settings"
)

// values are the settings of an owner that are set, and its name under "name".
type values map[string]json.RawMessage

type methodJSON struct {
	Surrogate   values `json:"surrogate"`
	Acquisition values `json:"acquisition,omitempty"`
	Maximizer   values `json:"maximizer,omitempty"`
}

// MarshalJSON returns the names and the settings that differ from unset ones.
func (m *Method) MarshalJSON() ([]byte, error) {
	var all methodJSON
	to := []*values{&all.Surrogate, &all.Acquisition, &all.Maximizer}
	for i, o := range m.owners() {
		v, err := settings.Values(o.options)
		if err != nil {
			return nil, o.wrap(err)
		}
		if o.name != "" {
			v["name"], _ = json.Marshal(o.name)
		}
		*to[i] = v
	}
	return json.Marshal(all)
}

// UnmarshalJSON replaces m by the method that MarshalJSON describes. The error
// wraps ErrUnknown or ErrSetting, or is an error of package json.
func (m *Method) UnmarshalJSON(text []byte) error {
	var all methodJSON
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return fmt.Errorf("%w: method: %w", ErrSetting, err)
	}
	name, err := all.Surrogate.takeName("surrogate")
	if err != nil {
		return err
	}
	fresh, err := NewMethod(name)
	if err != nil {
		return err
	}
	if all.Acquisition != nil {
		if name, err = all.Acquisition.takeName("acquisition"); err != nil {
			return err
		}
		if err := fresh.Choose(name); err != nil {
			return err
		}
	} else if all.Maximizer != nil {
		return fmt.Errorf("%w: maximizer without an acquisition", ErrSetting)
	}
	from := []values{all.Surrogate, all.Acquisition, all.Maximizer}
	for i, o := range fresh.owners() {
		if err := settings.SetValues(o.options, from[i]); err != nil {
			return o.wrap(err)
		}
	}
	*m = *fresh
	return nil
}

// takeName removes the name from v.
func (v values) takeName(kind string) (name string, err error) {
	if err := json.Unmarshal(v["name"], &name); err != nil {
		return "", fmt.Errorf("%w: %s: name is missing or no text", ErrSetting, kind)
	}
	delete(v, "name")
	return name, nil
}
