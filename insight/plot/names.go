package plot

import (
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/plot/vg"
)

// fitting returns the longest beginning of a text that fits a width together with rest.
func fitting(r []rune, rest string, size, width vg.Length) int {
	return sort.Search(len(r), func(k int) bool { return widthOf(string(r[:k+1])+rest, size) > width })
}

// shorten cuts text to a width, with an ellipsis.
func shorten(s string, size, width vg.Length) string {
	if widthOf(s, size) <= width {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:max(1, fitting(r, "…", size, width))]), " ") + "…"
}

// cutMiddle cuts text to a width and leaves out the middle.
func cutMiddle(s string, size, width vg.Length) string {
	if widthOf(s, size) <= width {
		return s
	}
	r := []rune(s)
	k := sort.Search(len(r)/2, func(k int) bool {
		return widthOf(string(r[:k+1])+"…"+string(r[len(r)-k-1:]), size) > width
	})
	return string(r[:k]) + "…" + string(r[len(r)-k:])
}

// abbreviate shortens names to a width. Different names stay different if leaving out the end, the
// middle, or the beginning that all names share can achieve it.
func abbreviate(names []string, size, width vg.Length) []string {
	shared := commonPrefix(names)
	cuts := []func(string) string{
		func(s string) string { return shorten(s, size, width) },
		func(s string) string { return cutMiddle(s, size, width) },
		func(s string) string { return shorten("…"+string([]rune(s)[shared:]), size, width) },
	}
	if len(names) == 0 {
		return nil
	}
	var best []string
	most := -1
	for _, cut := range cuts {
		short, different := make([]string, len(names)), map[string]bool{}
		for i, name := range names {
			short[i] = cut(name)
			different[short[i]] = true
		}
		if len(different) > most {
			best, most = short, len(different)
		}
		if most == len(names) {
			break
		}
	}
	return best
}

// commonPrefix returns the number of characters with which all names begin.
func commonPrefix(names []string) int {
	if len(names) < 2 {
		return 0
	}
	a, b := []rune(slices.Min(names)), []rune(slices.Max(names))
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// nameLabels are the labels of a horizontal axis of names.
type nameLabels struct {
	labels []string  // of all names
	angle  float64   // in radians
	height vg.Length // beyond one line
	pitch  vg.Length // least distance of two labels; 0 is their width
}

// tilt is the angle of names that have no room beside each other.
const tilt = 35 * math.Pi / 180

// nameLabels returns the labels of an axis of names on a length, below panels of a height with a left
// margin. Names that are too long for horizontal labels are tilted, or vertical if the first would
// pass the left margin.
func (a *axis) nameLabels(length, height, left vg.Length) nameLabels {
	room := length / vg.Length(max(1, len(a.names)))
	if !slices.ContainsFunc(a.names, func(s string) bool { return widthOf(s, tickSize)+6 > room }) {
		return nameLabels{labels: a.names}
	}
	most := min(widest, 0.22*height)
	tilted := nameLabels{angle: tilt, pitch: tickSize * 1.2 / vg.Length(math.Sin(tilt))}
	tilted.labels = abbreviate(a.names, tickSize, min(widest, most/vg.Length(math.Sin(tilt))))
	if long := longest(tilted.labels); long*vg.Length(math.Cos(tilt)) <= left+room/2 {
		tilted.height = max(0, long*vg.Length(math.Sin(tilt))-tickSize/2)
		return tilted
	}
	vertical := nameLabels{angle: math.Pi / 2, pitch: tickSize * 1.25, labels: abbreviate(a.names, tickSize, most)}
	vertical.height = max(0, longest(vertical.labels)-tickSize/2)
	return vertical
}

// longest returns the largest width of labels of ticks.
func longest(labels []string) vg.Length {
	var w vg.Length
	for _, s := range labels {
		w = max(w, widthOf(s, tickSize))
	}
	return w
}

// extent returns the size of a label along the axis.
func (n *nameLabels) extent(label string) vg.Length {
	if n.pitch > 0 {
		return n.pitch
	}
	return wide(label)
}

// of returns the label of the i-th name.
func (n *nameLabels) of(i float64) string { return n.labels[int(i)] }
