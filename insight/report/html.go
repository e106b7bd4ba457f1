package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"image/color"
	"io"
	"strings"

	"github.com/functionspace/bo/internal/palette"
)

//go:embed report.html.tmpl report.css charts.js pictures.js report.js echarts/echarts.min.js
var files embed.FS

// Start is the text with which the file of every report begins.
const Start = "<!DOCTYPE html>\n<!-- bo report -->"

// page is the data of report.html.tmpl.
type page struct {
	*Report
	Policy  template.HTMLAttr // content security policy
	Style   template.CSS
	Scripts []template.JS
	Data    template.JS // JSON, in which <, > and & are escaped
	Theme   template.JS
}

// WriteHTML writes the report as one HTML file.
func (r *Report) WriteHTML(w io.Writer) error {
	style := Style()
	data, err := json.Marshal(r) // escapes the characters with which an element could end
	if err != nil {
		return err
	}
	p := page{Report: r, Style: template.CSS(style), Data: template.JS(data), Theme: template.JS(Themes())}
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src"
	for _, script := range []string{ECharts(), Scripts(), strings.TrimSpace(read("report.js"))} {
		p.Scripts = append(p.Scripts, template.JS(script))
		policy += " " + hash(script)
	}
	p.Policy = template.HTMLAttr(`content="` + policy + `"`)
	t, err := template.New("report.html.tmpl").ParseFS(files, "report.html.tmpl")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, Start); err != nil {
		return err
	}
	return t.Execute(w, p)
}

// ECharts returns the library of the pictures.
func ECharts() string { return strings.TrimSpace(read("echarts/echarts.min.js")) }

// Scripts returns the code of the pictures, which needs ECharts: boCharts.history and other functions
// return an ECharts option for a Report, and boPictures adds pictures to a page.
func Scripts() string { return read("charts.js") + strings.TrimSpace(read("pictures.js")) }

// Style returns the style sheet of a page with pictures, with the colours of both themes.
func Style() string {
	return themeCSS("light", palette.Light) + themeCSS("dark", palette.Dark) + read("report.css")
}

// Themes returns the colours of pictures as a JSON object, the second argument of boPictures.
func Themes() []byte {
	text, err := json.Marshal(map[string]any{"light": themeOf(palette.Light), "dark": themeOf(palette.Dark), "sequential": sequential()})
	if err != nil {
		panic("report: colours: " + err.Error())
	}
	return text
}

// read returns the text of an embedded file.
func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic("report: embedded file: " + err.Error())
	}
	return string(text)
}

// hash returns the source expression of a content security policy for an inline element.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// themeOf returns the colours of a theme by role.
func themeOf(t palette.Theme) map[string]string {
	return map[string]string{
		"background": palette.Hex(t.Background), "text": palette.Hex(t.Text), "muted": palette.Hex(t.Muted), "grid": palette.Hex(t.Grid),
		"evaluation": palette.Hex(t.Evaluation), "failure": palette.Hex(t.Failure), "pending": palette.Hex(t.Pending),
		"stopped": palette.Hex(t.Stopped), "infeasible": palette.Hex(t.Infeasible), "incumbent": palette.Hex(t.Incumbent),
		"mean": palette.Hex(t.Mean), "band50": palette.Hex(t.Band50), "band95": palette.Hex(t.Band95),
		"acquisition": palette.Hex(t.Acquisition), "front": palette.Hex(t.Front),
	}
}

// themeCSS declares the colours of the page as custom properties of a class of its root. Print is light.
func themeCSS(name string, t palette.Theme) string {
	declare := func(selector string) string {
		return fmt.Sprintf("%s{--background:%s;--text:%s;--muted:%s;--grid:%s;--accent:%s;--good:%s;--bad:%s;--good-text:%s;--bad-text:%s}", selector,
			palette.Hex(t.Background), palette.Hex(t.Text), palette.Hex(t.Muted), palette.Hex(t.Grid), palette.Hex(t.Mean), palette.Hex(t.Incumbent), palette.Hex(t.Failure), palette.Hex(t.Good), palette.Hex(t.Bad))
	}
	if name == "dark" {
		return "@media screen and (prefers-color-scheme:dark){" + declare(":root") + "}\n"
	}
	return declare(":root") + "\n"
}

// sequential returns colours from the least to the largest value.
func sequential() []string {
	const steps = 16
	var out []string
	for k := range steps + 1 {
		var c color.NRGBA = palette.Sequential(float64(k) / steps)
		out = append(out, palette.Hex(c))
	}
	return out
}
