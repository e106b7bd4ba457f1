package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

type options struct {
	out, program, arch, tag, ca, licenses string
}

// user is the user and group of the program, without a name or a password.
const user = 65532

// ports are the default ports of the programs.
var ports = map[string]string{"bo-katib": "6789/tcp", "bo": "7040/tcp"}

// descriptor names a blob of a layout.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// write builds the program and writes the image. It returns the size of the file.
func write(o *options) (int64, error) {
	binary, err := build(o)
	if err != nil {
		return 0, err
	}
	layer, err := layerOf(o, binary)
	if err != nil {
		return 0, err
	}
	text, err := layout(o, layer)
	if err != nil {
		return 0, err
	}
	return int64(len(text)), os.WriteFile(o.out, text, 0o644)
}

// build returns the binary of the program.
func build(o *options) ([]byte, error) {
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, o.program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+o.arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.ReadFile(file)
}

// layerOf returns the files of the image as a tar archive: the program, a folder for temporary files, a folder
// for data that the user owns, and the files of the options.
func layerOf(o *options, binary []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	folder := func(name string, mode int64, owner int) error {
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner})
	}
	file := func(name string, mode int64, text []byte) error {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text))})
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	err := errors.Join(file(path.Base(o.program), 0o755, binary), folder("tmp", 0o1777, 0), folder("data", 0o755, user))
	if err == nil && o.ca != "" {
		var text []byte
		if text, err = os.ReadFile(o.ca); err == nil {
			err = errors.Join(folder("etc", 0o755, 0), folder("etc/ssl", 0o755, 0), folder("etc/ssl/certs", 0o755, 0), file("etc/ssl/certs/ca-certificates.crt", 0o644, text))
		}
	}
	if err == nil && o.licenses != "" {
		err = filepath.WalkDir(o.licenses, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			to := path.Join("licenses", filepath.ToSlash(name[len(o.licenses):]))
			if d.IsDir() {
				return folder(to, 0o755, 0)
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return file(to, 0o644, text)
		})
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// layout returns the image of a layer as an OCI image layout in a tar archive. The file manifest.json is for versions
// of Docker that read no layouts.
func layout(o *options, layer []byte) ([]byte, error) {
	var b, compressed bytes.Buffer
	w := tar.NewWriter(&b)
	file := func(name string, text []byte) error {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(text))})
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	blob := func(kind string, text []byte) (descriptor, error) {
		d := descriptor{MediaType: kind, Digest: digest(text), Size: len(text)}
		return d, file(blobName(d.Digest), text)
	}
	z, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(layer); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	config, err := json.Marshal(configOf(o, digest(layer)))
	if err != nil {
		return nil, err
	}
	files, err := blob("application/vnd.oci.image.layer.v1.tar+gzip", compressed.Bytes())
	if err != nil {
		return nil, err
	}
	settings, err := blob("application/vnd.oci.image.config.v1+json", config)
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": settings, "layers": []descriptor{files},
	})
	if err != nil {
		return nil, err
	}
	image, err := blob("application/vnd.oci.image.manifest.v1+json", manifest)
	if err != nil {
		return nil, err
	}
	full := o.tag
	if !strings.Contains(full, "/") {
		full = "docker.io/library/" + full
	}
	image.Platform = map[string]string{"os": "linux", "architecture": o.arch}
	image.Annotations = map[string]string{"io.containerd.image.name": full, "org.opencontainers.image.ref.name": o.tag}
	for _, f := range []struct {
		name    string
		content any
	}{
		{"index.json", map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []descriptor{image}}},
		{"manifest.json", []any{map[string]any{"Config": blobName(settings.Digest), "RepoTags": []string{o.tag}, "Layers": []string{blobName(files.Digest)}}}},
		{"oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}},
	} {
		text, err := json.Marshal(f.content)
		if err == nil {
			err = file(f.name, text)
		}
		if err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return b.Bytes(), err
}

// configOf returns the configuration of the image, whose layer has the given digest.
func configOf(o *options, layer string) any {
	name := path.Base(o.program)
	run := map[string]any{
		"User": fmt.Sprintf("%d:%d", user, user), "Entrypoint": []string{"/" + name}, "WorkingDir": "/data", "Env": []string{"HOME=/data", "TMPDIR=/tmp"},
		"Labels": map[string]string{"org.opencontainers.image.title": name, "org.opencontainers.image.source": "https://github.com/functionspace/bo", "org.opencontainers.image.licenses": "Apache-2.0"},
	}
	if port := ports[name]; port != "" {
		run["ExposedPorts"] = map[string]any{port: struct{}{}}
	}
	return map[string]any{
		"architecture": o.arch, "os": "linux", "config": run,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{layer}},
		"history": []any{map[string]string{"created_by": "go run ./deploy/image"}},
	}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func blobName(digest string) string { return "blobs/sha256/" + digest[len("sha256:"):] }
