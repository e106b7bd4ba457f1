package prior

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// LogNormal is the density of θ with log θ ~ N(Mu, Sigma²):
//
//	log p = -log θ - log(Sigma √2π) - (log θ - Mu)²/(2 Sigma²)
type LogNormal struct{ Mu, Sigma float64 }

// LogProb implements Density.
func (d LogNormal) LogProb(theta float64) (lp, dlp float64) {
	l := math.Log(theta)
	z := (l - d.Mu) / d.Sigma
	return -l - math.Log(d.Sigma) - 0.5*math.Log(2*math.Pi) - 0.5*z*z, -(1 + z/d.Sigma) / theta
}

// Mode returns exp(Mu - Sigma²).
func (d LogNormal) Mode() float64 { return math.Exp(d.Mu - d.Sigma*d.Sigma) }

// Sample implements Density.
func (d LogNormal) Sample(rng *rand.Rand) float64 {
	return math.Exp(d.Mu + d.Sigma*rng.NormFloat64())
}

// Gamma is the density with log p = (Shape-1) log θ - Rate θ + Shape log Rate -
// log Γ(Shape).
type Gamma struct{ Shape, Rate float64 }

// LogProb implements Density.
func (d Gamma) LogProb(theta float64) (lp, dlp float64) {
	g, _ := math.Lgamma(d.Shape)
	return (d.Shape-1)*math.Log(theta) - d.Rate*theta + d.Shape*math.Log(d.Rate) - g, (d.Shape-1)/theta - d.Rate
}

// Mode returns (Shape-1)/Rate, or the mean Shape/Rate for Shape ≤ 1.
func (d Gamma) Mode() float64 {
	if d.Shape <= 1 {
		return d.Shape / d.Rate
	}
	return (d.Shape - 1) / d.Rate
}

// Sample implements Density.
func (d Gamma) Sample(rng *rand.Rand) float64 {
	return distuv.Gamma{Alpha: d.Shape, Beta: d.Rate, Src: rng}.Rand()
}
