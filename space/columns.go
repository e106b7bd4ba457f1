package space

// Columns returns the encoded columns of a parameter, from first to end-1. It panics if
// there is no such parameter.
func (s *Space) Columns(name string) (first, end int) {
	i, err := s.lookup(name)
	if err != nil {
		panic("space: " + err.Error())
	}
	return s.start[i], s.start[i] + s.params[i].columns()
}
