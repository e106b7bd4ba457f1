package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// entries returns the files of a tar archive, and their headers.
func entries(t *testing.T, archive []byte) (files map[string][]byte, headers map[string]*tar.Header) {
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, headers
		}
		require.NoError(t, err)
		require.NotContains(t, files, h.Name)
		files[h.Name], err = io.ReadAll(r)
		require.NoError(t, err)
		headers[h.Name] = h
	}
}

// read decodes a blob after a check of its size and its digest.
func read(t *testing.T, files map[string][]byte, d descriptor, into any) []byte {
	text, ok := files[blobName(d.Digest)]
	require.True(t, ok, d.Digest)
	require.Len(t, text, d.Size)
	require.Equal(t, d.Digest, digest(text))
	if into != nil {
		require.NoError(t, json.Unmarshal(text, into))
	}
	return text
}

// The layout is complete, its digests hold, and the program is static, runs without root and is small. A second
// build gives the same bytes. No module is downloaded.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	t.Chdir("../..")
	t.Setenv("GOPROXY", "off")
	licenses := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(licenses, "LICENSE"), []byte("text"), 0o600))
	out := filepath.Join(t.TempDir(), "image.tar")
	o := &options{out: out, program: "./cmd/bo-katib", arch: runtime.GOARCH, tag: "example.org/bo-katib:1", ca: filepath.Join(licenses, "LICENSE"), licenses: licenses}
	size, err := write(o)
	require.NoError(t, err)
	require.Less(t, size, int64(30_000_000))
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	_, err = write(o)
	require.NoError(t, err)
	again, err := os.ReadFile(out)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, again), "a second build differs")

	files, _ := entries(t, text)
	require.JSONEq(t, `{"imageLayoutVersion": "1.0.0"}`, string(files["oci-layout"]))
	var index struct{ Manifests []descriptor }
	require.NoError(t, json.Unmarshal(files["index.json"], &index))
	require.Len(t, index.Manifests, 1)
	require.Equal(t, map[string]string{"os": "linux", "architecture": runtime.GOARCH}, index.Manifests[0].Platform)
	require.Equal(t, "example.org/bo-katib:1", index.Manifests[0].Annotations["io.containerd.image.name"])
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(t, files, index.Manifests[0], &manifest)
	var config struct {
		Architecture, OS string
		Config           struct {
			User         string
			Entrypoint   []string
			ExposedPorts map[string]any
		}
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	read(t, files, manifest.Config, &config)
	require.Equal(t, []string{runtime.GOARCH, "linux"}, []string{config.Architecture, config.OS})
	require.Equal(t, "65532:65532", config.Config.User)
	require.Equal(t, []string{"/bo-katib"}, config.Config.Entrypoint)
	require.Contains(t, config.Config.ExposedPorts, "6789/tcp")
	require.Len(t, manifest.Layers, 1)
	z, err := gzip.NewReader(bytes.NewReader(read(t, files, manifest.Layers[0], nil)))
	require.NoError(t, err)
	layer, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Equal(t, []string{digest(layer)}, config.Rootfs.DiffIDs)
	require.Less(t, len(layer), 30_000_000)
	var old []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	require.NoError(t, json.Unmarshal(files["manifest.json"], &old))
	require.Equal(t, blobName(manifest.Config.Digest), old[0].Config)
	require.Equal(t, []string{blobName(manifest.Layers[0].Digest)}, old[0].Layers)
	t.Logf("%.1f MB, %.1f MB unpacked", float64(size)/1e6, float64(len(layer))/1e6)

	content, headers := entries(t, layer)
	require.Equal(t, "text", string(content["etc/ssl/certs/ca-certificates.crt"]))
	require.Equal(t, "text", string(content["licenses/LICENSE"]))
	require.Equal(t, user, headers["data/"].Uid)
	require.EqualValues(t, 0o755, headers["bo-katib"].Mode)
	checkProgram(t, content["bo-katib"])
}

// checkProgram checks that a program needs no other file, and runs it.
func checkProgram(t *testing.T, binary []byte) {
	program, err := elf.NewFile(bytes.NewReader(binary))
	require.NoError(t, err)
	for _, p := range program.Progs {
		require.NotEqual(t, elf.PT_INTERP, p.Type, "the program is not static")
	}
	libraries, err := program.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries)
	if runtime.GOOS != "linux" {
		return
	}
	name := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(name, binary, 0o700))
	help, err := exec.Command(name, "--help").CombinedOutput()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(help), "usage: bo-katib"))
}
