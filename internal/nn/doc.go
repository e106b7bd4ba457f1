// Package nn evaluates fully connected networks f(x, w): R^d → R and the products of
// their first and second derivatives that function-space methods need.
//
// With a_0 = x and D hidden layers (D may be 0: a linear model),
//
//	z_l = a_{l-1} W_l + b_l ,  a_l = φ(z_l) ,  l = 1 … D ,    f = a_D·v + c .
//
// A Tape stores these for the m rows of a batch, together with the backward pass
//
//	g_D = v ,  δ_l = g_l ∘ φ′(z_l) ,  g_{l-1} = δ_l W_lᵀ ,    ∂f/∂x = g_0 .
//
// The derivatives are matrix products of the stored values, such as
//
//	∂f/∂W_l = a_{l-1}ᵀ δ_l ,  ∂f/∂b_l = δ_l ,  ∂f/∂v = a_D ,  ∂f/∂c = 1 .
//
// The empirical neural tangent kernel (Jacot, Gabriel and Hongler 2018) is
// computed without the Jacobian J(x) = ∂f/∂w, in O(nm·Σ_l h_l) for n×m points
// (Novak, Sohl-Dickstein and Schoenholz 2022, "structured derivatives"):
//
//	Θ(x,y) = J(x)·J(y) = 1 + a_D(x)·a_D(y) + Σ_l (1 + a_{l-1}(x)·a_{l-1}(y)) (δ_l(x)·δ_l(y)) .
//
// Gradients of functions of J (of Θ, of J·u) propagate through both passes. With
// adjoints ā_l of a_l and δ̄_l of δ_l, the backward pass is reversed by
//
//	z̄_l = δ̄_l ∘ g_l ∘ φ″(z_l) ,  ḡ_l = δ̄_l ∘ φ′(z_l) ,  δ̄_{l+1} += ḡ_l W_{l+1} ,
//
// and the forward pass by ordinary backpropagation. The cost is a small multiple of
// the passes.
//
// Parameters are one flat vector: for each hidden layer in order the weights
// W_l (h_{l-1}×h_l, row-major), then the biases b_l; then the output weights v,
// then the output bias c.
package nn
