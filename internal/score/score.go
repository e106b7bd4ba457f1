// Package score scores predictions against held-out data.
package score

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Gaussian holds the scores of Gaussian predictions of observations.
type Gaussian struct {
	RMSE       float64            // root mean squared error of the means
	LogDensity float64            // mean log predictive density, in nats
	Coverage   map[string]float64 // share of observations in the central 50, 90 and 95 % intervals
}

// Observations scores predictions N(mean, sd²) of the observations y.
func Observations(y, mean, sd []float64) Gaussian {
	s := Gaussian{Coverage: map[string]float64{}}
	n := float64(len(y))
	scaled := make([]float64, len(y))
	var big float64 // keeps the squares of large errors finite
	for i := range y {
		big = max(big, math.Abs(y[i]-mean[i]))
	}
	for i := range y {
		e := y[i] - mean[i]
		if big > 0 {
			s.RMSE += (e / big) * (e / big)
		}
		scaled[i] = math.Abs(e) / sd[i]
		s.LogDensity -= math.Log(2*math.Pi)/2 + math.Log(sd[i]) + scaled[i]*scaled[i]/2
	}
	s.RMSE = big * math.Sqrt(s.RMSE/n)
	s.LogDensity /= n
	for _, p := range []int{50, 90, 95} {
		reach := distuv.UnitNormal.Quantile(0.5 + float64(p)/200)
		inside := 0
		for _, z := range scaled {
			if z <= reach {
				inside++
			}
		}
		s.Coverage[fmt.Sprint(p)] = float64(inside) / n
	}
	return s
}

// ExpectedLogLikelihood returns the mean of E log N(y; f, noise) with f ~ N(mean,
// variance), in nats. It never exceeds the log predictive density.
func ExpectedLogLikelihood(y, mean, variance []float64, noise float64) float64 {
	var sum float64
	for i := range y {
		e := y[i] - mean[i]
		sum -= (math.Log(2*math.Pi*noise) + (e*e+max(0, variance[i]))/noise) / 2
	}
	return sum / float64(len(y))
}

// Labels holds the scores of predicted class probabilities.
type Labels struct {
	Accuracy       float64 // share of labels with the largest probability
	LogProbability float64 // mean log probability of the labels, in nats
	Brier          float64 // mean squared distance from the indicator of the label, 0 to 2
	ECE            float64 // expected calibration error over 15 bins of the confidence
}

// confidenceBins is the number of bins of the expected calibration error (Guo et al.
// 2017, eq. 3).
const confidenceBins = 15

// Classes scores the probabilities of the classes, a row for each label in y.
func Classes(y []int, prob *mat.Dense) Labels {
	var s Labels
	n := float64(len(y))
	right := 0
	var gap [confidenceBins]float64 // sum of correctness minus confidence
	for i, label := range y {
		row := prob.RawRowView(i)
		s.LogProbability += math.Log(max(row[label], math.SmallestNonzeroFloat64)) / n
		for k, p := range row {
			e := p
			if k == label {
				e = 1 - p
			}
			s.Brier += e * e / n
		}
		best := MostProbable(row)
		bin := min(int(confidenceBins*row[best]), confidenceBins-1)
		gap[bin] -= row[best]
		if best == label {
			right++
			gap[bin]++
		}
	}
	s.Accuracy = float64(right) / n
	for _, g := range gap {
		s.ECE += math.Abs(g) / n
	}
	return s
}

// MostProbable returns the index of the largest probability, the first of equals.
func MostProbable(prob []float64) int {
	best := 0
	for k, p := range prob {
		if p > prob[best] {
			best = k
		}
	}
	return best
}
