package runner

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/score"
	"github.com/functionspace/bo/surrogate"
)

// digitsSuite classifies the 8×8 digits of scikit-learn in place of MNIST and Fashion MNIST, after
// GFSVI, table 2, and FSP-Laplace, table 2. Inputs from another distribution are the images of
// held-out classes, and test images turned by 90 degrees.
func digitsSuite() Suite {
	s := Suite{
		Name:    "paper/digits",
		Summary: "8×8 digits in place of the images of the GFSVI and FSP-Laplace papers",
		Methods: []string{"gp", "fsp-laplace", "laplace"},
		Quantities: []Quantity{
			{Name: "accuracy", Title: "Accuracy", Digits: 3},
			{Name: "log_prob", Title: "Mean log probability of the label", Digits: 3},
			{Name: "ece", Title: "Expected calibration error, 15 bins", Digits: 3, Lower: true},
			{Name: "held_out", Title: "Accuracy of a threshold of the entropy: images of the classes 8 and 9", Digits: 3},
			{Name: "turned", Title: "Accuracy of a threshold of the entropy: images turned by 90 degrees", Digits: 3},
		},
		Seeds: 5,
	}
	for _, n := range []int{200, 500} {
		s.Experiments = append(s.Experiments, Experiment{Name: fmt.Sprintf("%d-labels", n), Load: func(string) (Measurement, error) {
			d, err := allDigits()
			return digits{d, n}.measure, err
		}})
	}
	return s
}

const (
	digitSide    = 8  // pixels
	digitLevels  = 16 // largest value of a pixel
	digitClasses = 8  // classes 0 to 7 are trained
)

// image is a digit with pixels in [0,1], row by row.
type image struct {
	pixels []float64
	label  int
}

// turned returns the pixels turned by 90 degrees.
func (m image) turned() []float64 {
	out := make([]float64, len(m.pixels))
	for i := range digitSide {
		for j := range digitSide {
			out[j*digitSide+digitSide-1-i] = m.pixels[i*digitSide+j]
		}
	}
	return out
}

// digitsFile has 1797 images by E. Alpaydin and C. Kaynak, as in scikit-learn: lines of 64 pixels
// from 0 to 16 and a label.
//
//go:embed data/digits.csv.gz
var digitsFile []byte

// allDigits reads digitsFile once.
var allDigits = sync.OnceValues(func() ([]image, error) {
	plain, err := gzip.NewReader(bytes.NewReader(digitsFile))
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(plain).ReadAll()
	if err != nil {
		return nil, err
	}
	var list []image
	for _, line := range lines {
		var m image
		for _, cell := range line[:digitSide*digitSide] {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				return nil, err
			}
			m.pixels = append(m.pixels, v/digitLevels)
		}
		if m.label, err = strconv.Atoi(line[digitSide*digitSide]); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
})

// digits trains on a number of images.
type digits struct {
	all   []image
	train int
}

func matrix(list []image, pixels func(image) []float64) *mat.Dense {
	x := mat.NewDense(len(list), digitSide*digitSide, nil)
	for i, m := range list {
		x.SetRow(i, pixels(m))
	}
	return x
}

func upright(m image) []float64 { return m.pixels }

func (d digits) measure(ctx context.Context, m Method, seed uint64, rec *Record) error {
	c, err := m.chooser()
	if err != nil {
		return err
	}
	model, ok := c.Surrogate.(surrogate.Classifier)
	if !ok {
		return fmt.Errorf("%s does not support labels", m.Name)
	}
	var known, held []image
	for _, i := range random.New(seed, "digits", 0).Perm(len(d.all)) {
		if d.all[i].label < digitClasses {
			known = append(known, d.all[i])
		} else {
			held = append(held, d.all[i])
		}
	}
	train, test := known[:d.train], known[d.train:]
	dim := digitSide * digitSide
	labels := surrogate.Labels{X: matrix(train, upright), Classes: digitClasses, Lo: make([]float64, dim), Hi: slices.Repeat([]float64{1}, dim)}
	for _, m := range train {
		labels.Y = append(labels.Y, m.label)
	}
	post, err := model.FitLabels(ctx, labels, random.New(seed, "fit of digits", 0))
	if err != nil {
		return err
	}
	rec.Dim = dim
	rec.warn(post.Warnings())
	prob := mat.NewDense(len(test), digitClasses, nil)
	post.Predict(prob, matrix(test, upright))
	var want []int
	for _, m := range test {
		want = append(want, m.label)
	}
	s := score.Classes(want, prob)
	rec.Measures["accuracy"], rec.Measures["log_prob"], rec.Measures["ece"] = s.Accuracy, s.LogProbability, s.ECE
	inside := entropies(prob)
	for name, x := range map[string]*mat.Dense{"held_out": matrix(held, upright), "turned": matrix(test, image.turned)} {
		n, _ := x.Dims()
		q := mat.NewDense(n, digitClasses, nil)
		post.Predict(q, x)
		rec.Measures[name], _ = separation(inside, entropies(q))
	}
	return nil
}

// entropies returns the entropy of each row of probabilities.
func entropies(prob *mat.Dense) []float64 {
	n, classes := prob.Dims()
	list := make([]float64, n)
	for i := range list {
		for c := range classes {
			if p := prob.At(i, c); p > 0 {
				list[i] -= p * math.Log(p)
			}
		}
	}
	return list
}
