package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/insight/report"
)

//go:embed pages.html.tmpl dashboard.css dashboard.js icon.svg
var files embed.FS

// file is a file that pages load. Its name changes with its content.
type file struct {
	kind       string
	text, gzip []byte
}

// assets returns the files by name, and the paths by which pages refer to them.
var assets = sync.OnceValues(func() (byName map[string]file, paths map[string]string) {
	script := "'use strict';\nglobalThis.boTheme = " + string(report.Themes()) + ";\n" + report.Scripts() + "\n" + read("dashboard.js")
	byName, paths = map[string]file{}, map[string]string{}
	for _, f := range []struct{ name, end, kind, text string }{
		{"echarts", "js", "text/javascript; charset=utf-8", report.ECharts()},
		{"dashboard", "js", "text/javascript; charset=utf-8", script},
		{"style", "css", "text/css; charset=utf-8", report.Style() + read("dashboard.css")},
		{"icon", "svg", "image/svg+xml", read("icon.svg")},
	} {
		sum := sha256.Sum256([]byte(f.text))
		name := fmt.Sprintf("%s-%s.%s", f.name, hex.EncodeToString(sum[:6]), f.end)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write([]byte(f.text)) // a buffer takes all bytes
		_ = z.Close()
		byName[name], paths[f.name] = file{f.kind, []byte(f.text), packed.Bytes()}, "/assets/"+name
	}
	return byName, paths
})

// assetPath returns the path of a file of the pages, without the prefix.
func assetPath(name string) string {
	_, paths := assets()
	return paths[name]
}

// asset serves a file of the pages. It needs no token: the form for a token uses the style.
func (d *Dashboard) asset(w http.ResponseWriter, r *http.Request) error {
	byName, _ := assets()
	f, ok := byName[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return nil
	}
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	text := f.text
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		text = f.gzip
	}
	_, _ = w.Write(text)
	return nil
}

// read returns the text of an embedded file.
func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic("dashboard: embedded file: " + err.Error())
	}
	return string(text)
}

// templates are the pages. The function at is each Dashboard's own.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("pages").Funcs(template.FuncMap{
		"path": studyPath, "asset": assetPath, "at": func(path string) string { return path },
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"clock":   func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") },
	}).ParseFS(files, "pages.html.tmpl"))
})
