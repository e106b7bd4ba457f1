package surrogatetest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// checkFeatures checks that the linear model of a FeaturePosterior has the moments of Joint, also
// after an observation.
func checkFeatures(s *suite) error {
	post, ok := s.post.(surrogate.FeaturePosterior)
	if !ok {
		return nil
	}
	if err := featuresAgree(post, s); err != nil {
		return err
	}
	conditioner, ok := s.post.(surrogate.Conditioner)
	if !ok {
		return nil
	}
	next, err := conditioner.Condition(points(1, 2), []float64{0.3})
	if err != nil {
		return err
	}
	post, ok = next.(surrogate.FeaturePosterior)
	if !ok {
		return errors.New("conditioning a FeaturePosterior returns a posterior without features")
	}
	if err := featuresAgree(post, s); err != nil {
		return fmt.Errorf("after conditioning: %w", err)
	}
	return nil
}

func featuresAgree(post surrogate.FeaturePosterior, s *suite) error {
	x := points(6, 2)
	offset, phi := post.Features(x)
	mean, cov := post.Coefficients()
	rows, r := phi.Dims()
	if len(offset) != 6 || rows != 6 || r != len(mean) || r != cov.SymmetricDim() {
		return fmt.Errorf("offset %d, features %d×%d, coefficients %d and %d for 6 points", len(offset), rows, r, len(mean), cov.SymmetricDim())
	}
	var got, joint mat.Dense
	joint.Mul(phi, cov)
	got.Mul(&joint, phi.T())
	want := make([]float64, 6)
	wantCov := mat.NewSymDense(6, nil)
	post.Joint(want, wantCov, x)
	sd := scale(post, s.data.X)
	for i := range 6 {
		if m := offset[i] + mat.Dot(phi.RowView(i), mat.NewVecDense(r, mean)); !(math.Abs(m-want[i]) <= s.Tol*sd) {
			return fmt.Errorf("the mean by features at point %d is %v, and of Joint %v", i, m, want[i])
		}
		for j := range 6 {
			if !(math.Abs(got.At(i, j)-wantCov.At(i, j)) <= s.Tol*sd*sd) {
				return fmt.Errorf("the covariance by features at points %d, %d is %v, and of Joint %v", i, j, got.At(i, j), wantCov.At(i, j))
			}
		}
	}
	offset[0], mean[0] = offset[0]+1000, mean[0]+1000
	again, _ := post.Features(x)
	kept, _ := post.Coefficients()
	if again[0] == offset[0] || kept[0] == mean[0] {
		return errors.New("the caller's change of features changes the posterior")
	}
	return nil
}

// checkWeights checks that draws of weights have the moments of WeightMoments, that they are
// reproducible, and that networks of weights have values and gradients.
func checkWeights(s *suite) error {
	post, ok := s.post.(surrogate.WeightPosterior)
	if !ok {
		return nil
	}
	mean, cov := post.WeightMoments()
	p := len(mean)
	if cov.SymmetricDim() != p {
		return fmt.Errorf("%d weights with a covariance of %d", p, cov.SymmetricDim())
	}
	const n = 400
	draws := post.SampleWeights(n, random.New(3, "surrogatetest", 0))
	if r, c := draws.Dims(); r != n || c != p {
		return fmt.Errorf("%d draws of %d weights are %d×%d", n, p, r, c)
	}
	if err := identical("draws of weights", draws.RawMatrix().Data, post.SampleWeights(n, random.New(3, "surrogatetest", 0)).RawMatrix().Data); err != nil {
		return err
	}
	if err := finite("weights", draws.RawMatrix().Data); err != nil {
		return err
	}
	// Along a direction u the mean of draws has the variance uᵀΣu/n.
	rng := random.New(4, "surrogatetest", 0)
	u, image := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil)
	for range 5 {
		random.Normal(u.RawVector().Data, rng)
		image.MulVec(cov, u)
		variance, centre := mat.Dot(u, image), mat.Dot(u, mat.NewVecDense(p, mean))
		var sum, squares float64
		for i := range n {
			v := mat.Dot(u, draws.RowView(i)) - centre
			sum += v / n
			squares += v * v / n
		}
		slack := s.Tol * (1 + math.Abs(centre))
		if !(math.Abs(sum) <= 5*math.Sqrt(variance/n)+slack) || !(math.Abs(squares-variance) <= 8*variance*math.Sqrt(2./n)+slack*slack) {
			return fmt.Errorf("along a direction %d draws of weights differ from their mean by %v and have the variance %v, want %v", n, sum, squares, variance)
		}
	}
	return networkAgrees(post, draws.RawRowView(0), s)
}

// networkAgrees checks the values and gradients of the network with weights w.
func networkAgrees(post surrogate.WeightPosterior, w []float64, s *suite) error {
	path, x := post.WithWeights(w), points(4, 2)
	value, grad := make([]float64, 4), mat.NewDense(4, 2, nil)
	path.Eval(value, grad, x)
	if err := errors.Join(finite("network", value), finite("gradient of the network", grad.RawMatrix().Data)); err != nil {
		return err
	}
	alone := make([]float64, 4)
	path.Eval(alone, nil, x)
	if !floats.EqualApprox(value, alone, s.Tol*(1+floats.Norm(value, math.Inf(1)))) {
		return fmt.Errorf("the network has the values %v with gradients and %v without", value, alone)
	}
	return nil
}
