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

// Index returns the index of the value of parameter i, a bool, ordinal or categorical, at its
// columns u, which may contain any numbers. It is the number of values if u are the columns of
// the inactive parameter.
func (s *Space) Index(i int, u []float64) int {
	p := &s.params[i]
	if p.When.Text != "" && p.absentAt(u) {
		return p.levels()
	}
	return int(p.decode(u))
}
