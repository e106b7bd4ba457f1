// Command image writes a container image from scratch with one program of this module: a static binary, a user
// that is not root, and nothing else. It needs Go and no container engine.
//
//	go run ./deploy/image -o bo-katib.tar                      # ./cmd/bo-katib for linux/amd64
//	go run ./deploy/image -o bo.tar -program ./cmd/bo -ca /etc/ssl/certs/ca-certificates.crt
//
// The file is an OCI image layout in a tar archive, for docker load, podman load, skopeo copy and crane push. The
// same source, toolchain and flags give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"
)

func main() {
	o := options{}
	flag.StringVar(&o.out, "o", "", "file to write")
	flag.StringVar(&o.program, "program", "./cmd/bo-katib", "package of the program")
	flag.StringVar(&o.arch, "arch", runtime.GOARCH, "architecture: amd64 or arm64")
	flag.StringVar(&o.tag, "tag", "", "name and tag of the image; default: the name of the program with the tag latest")
	flag.StringVar(&o.ca, "ca", "", "file of certificate authorities to include, for TLS to a database")
	flag.StringVar(&o.licenses, "licenses", "", "directory of licences to include, from .ci/assets")
	flag.Parse()
	if o.out == "" || flag.NArg() > 0 || o.arch != "amd64" && o.arch != "arm64" {
		flag.Usage()
		os.Exit(2)
	}
	if o.tag == "" {
		o.tag = path.Base(o.program)
	}
	if !strings.Contains(path.Base(o.tag), ":") {
		o.tag += ":latest"
	}
	size, err := write(&o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %s for linux/%s, %.1f MB\n", o.out, o.tag, o.arch, float64(size)/1e6)
}
