package fsplaplace

// Check reports settings that cannot be fitted to data of dim inputs, whatever
// the data: Fit would return the same error.
func (m Model) Check(dim int) error {
	if _, err := m.withDefaults(); err != nil {
		return err
	}
	_, err := m.Process(dim)
	return err
}
