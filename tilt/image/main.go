// Command image builds the image of a service in a developer's cluster, without Docker. It has the base layers of
// the released image, the service's program, and [github.com/belfry-schools/belfry/tilt/live], which
// runs the program and accepts newer ones. The result is an archive as `docker save` writes it, which Docker,
// containerd, Podman, kind, minikube and k3s all load.
//
//	image -ref belfry-identity:dev -out identity.tar -live bin/live bin/identity
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/belfry-schools/belfry/deploy/images/layers"
	"github.com/belfry-schools/belfry/pkg/service/process"
)

func main() { process.Main("image", run) }

func run(_ context.Context, args []string, _ io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	ref := flags.String("ref", "", "`name` and tag of the image")
	out := flags.String("out", "", "`file` to write")
	live := flags.String("live", "", "the `program` live, for Linux")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *out == "" || *live == "" {
		return errors.New("usage: image -ref NAME:TAG -out FILE -live PROGRAM PROGRAM")
	}
	tag, err := name.NewTag(*ref)
	if err != nil {
		return err
	}
	image, err := newImage(flags.Arg(0), *live)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(*out, tag, image)
}

// newImage returns the image of a program of this machine's architecture. Its layers are not compressed, since it
// stays on this machine.
func newImage(program, live string) (v1.Image, error) {
	ground, err := layers.Ground()
	if err != nil {
		return nil, err
	}
	all := []v1.Layer{ground}
	service := filepath.Base(program)
	for _, p := range []struct{ name, binary string }{{"live", live}, {"tar", live}, {service, program}} {
		layer, err := layers.Program(p.name, p.binary, time.Unix(0, 0), layers.Loaded)
		if err != nil {
			return nil, err
		}
		all = append(all, layer)
	}
	image, err := mutate.AppendLayers(empty.Image, all...)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config = v1.Config{User: layers.User, WorkingDir: "/", Env: []string{"PATH=/"},
		Entrypoint: []string{"/live", "run", "/" + service}}
	return mutate.ConfigFile(image, file)
}
