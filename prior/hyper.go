package prior

// Hyperparameters returns the kernel of s for dim inputs and the list of its
// hyperparameters followed by the noise variance. Hyperparameters that s fixes are
// marked Fixed. Fits that optimise another objective than the marginal likelihood use
// the list; they optimise logarithms within the bounds. Fitted.State has the logarithms
// of the hyperparameters that are not Fixed, in this order. After ByLikelihood they have no
// hyperprior. The errors are the errors of Check.
func (s Spec) Hyperparameters(dim int, noiseFree bool) (Kernel, []Param, error) {
	m, err := s.model(dim, noiseFree)
	if err != nil {
		return nil, nil, err
	}
	if m.flat {
		for i := range m.params {
			m.params[i].Prior = nil
		}
	}
	return m.kernel, m.params, nil
}
