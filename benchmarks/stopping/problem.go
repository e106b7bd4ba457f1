package main

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"math"
	"slices"
)

//go:embed *.jsonl
var files embed.FS

// problem holds learning curves at points of a unit cube.
type problem struct {
	points, curves [][]float64
}

// load reads the curves of a problem.
func load(name string) (*problem, error) {
	text, err := files.ReadFile(name + ".jsonl")
	if err != nil {
		return nil, err
	}
	p := &problem{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var row [2][]float64
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, err
		}
		p.points, p.curves = append(p.points, row[0]), append(p.curves, row[1])
	}
	return p, lines.Err()
}

func (p *problem) dim() int { return len(p.points[0]) }

// curve returns the values at the steps 1 to fullSteps at u: the exponential of the mean of the
// logarithms of the five nearest curves, weighted by the inverse squared distance.
func (p *problem) curve(u []float64) []float64 {
	const neighbours, softening = 5, 1e-4
	order := make([]int, len(p.points))
	square := make([]float64, len(p.points))
	for i, point := range p.points {
		order[i] = i
		for k := range u {
			square[i] += (u[k] - point[k]) * (u[k] - point[k])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(square[a], square[b]) })
	out := make([]float64, fullSteps)
	total := 0.0
	for _, i := range order[:neighbours] {
		weight := 1 / (square[i] + softening)
		total += weight
		for t := range out {
			out[t] += weight * math.Log(p.curves[i][t])
		}
	}
	for t := range out {
		out[t] = math.Exp(out[t] / total)
	}
	return out
}
