package prior

// Hyperparameters returns the kernel of s for dim inputs and its
// hyper-parameters followed by the noise variance, with what s fixes marked
// Fixed: what a fit by another objective than the marginal likelihood optimises,
// as log values within their bounds. State of a Fitted is the logarithm of those
// that are not Fixed, in this order.
func (s Spec) Hyperparameters(dim int, noiseFree bool) (Kernel, []Param, error) {
	m, err := s.model(dim, noiseFree)
	if err != nil {
		return nil, nil, err
	}
	return m.kernel, m.params, nil
}
