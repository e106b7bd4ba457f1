package autodiff

// Network is a fully connected network with one linear output. Its weights are a vector: for each
// layer the weights, a row for each input, then the biases.
type Network struct {
	Widths []int // inputs, units of the hidden layers
	Relu   bool  // tanh otherwise
}

func (n Network) activate(z Number) Number {
	if n.Relu {
		return z.Relu()
	}
	return z.Tanh()
}

// slope returns the derivative of the activation.
func (n Network) slope(z Number) Number {
	if n.Relu {
		if z.Value > 0 {
			return Constant(1)
		}
		return Number{}
	}
	return Constant(1).Minus(z.Tanh().Square())
}

// layer returns the index of the first weight of a layer from 1, and its numbers of inputs and
// outputs.
func (n Network) layer(l int) (at, in, out int) {
	widths := append(append([]int(nil), n.Widths...), 1)
	for k := 1; k < l; k++ {
		at += (widths[k-1] + 1) * widths[k]
	}
	return at, widths[l-1], widths[l]
}

// Value returns f(x,w).
func (n Network) Value(w []Number, x []float64) Number {
	f, _ := n.pass(w, x, false)
	return f
}

// Jacobian returns f(x,w) and ∂f/∂w.
func (n Network) Jacobian(w []Number, x []float64) (Number, []Number) { return n.pass(w, x, true) }

func (n Network) pass(w []Number, x []float64, jacobian bool) (Number, []Number) {
	layers := len(n.Widths)
	a, z := make([][]Number, layers), make([][]Number, layers+1)
	for _, v := range x {
		a[0] = append(a[0], Constant(v))
	}
	for l := 1; l <= layers; l++ {
		at, in, out := n.layer(l)
		for j := range out {
			sum := w[at+in*out+j]
			for i := range in {
				sum = sum.Plus(a[l-1][i].Times(w[at+i*out+j]))
			}
			z[l] = append(z[l], sum)
			if l < layers {
				a[l] = append(a[l], n.activate(sum))
			}
		}
	}
	if !jacobian {
		return z[layers][0], nil
	}
	grad := make([]Number, len(w))
	delta := []Number{Constant(1)} // ∂f/∂z of the layer
	for l := layers; l >= 1; l-- {
		at, in, out := n.layer(l)
		for j := range out {
			grad[at+in*out+j] = delta[j]
			for i := range in {
				grad[at+i*out+j] = a[l-1][i].Times(delta[j])
			}
		}
		if l == 1 {
			break
		}
		before := make([]Number, in)
		for i := range in {
			for j := range out {
				before[i] = before[i].Plus(w[at+i*out+j].Times(delta[j]))
			}
			before[i] = before[i].Times(n.slope(z[l-1][i]))
		}
		delta = before
	}
	return z[layers][0], grad
}
