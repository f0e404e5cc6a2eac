package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestTheImageRunsItsProgramUnderLiveAsAUserWithoutRights(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{"live": "the supervisor", "events": "the service"} {
		errortest.None(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	archive := filepath.Join(dir, "events.tar")
	errortest.None(t, run(t.Context(), []string{"-ref", "registry.test/belfry-events:tilt-1", "-out", archive, "-live",
		filepath.Join(dir, "live"), filepath.Join(dir, "events")}, nil))
	tag, err := name.NewTag("registry.test/belfry-events:tilt-1")
	errortest.None(t, err)
	image, err := tarball.ImageFromPath(archive, &tag)
	errortest.None(t, err)
	file, err := image.ConfigFile()
	errortest.None(t, err)
	want := v1.Config{User: "65532:65532", WorkingDir: "/", Env: []string{"PATH=/"},
		Entrypoint: []string{"/live", "run", "/events"}}
	if diff := cmp.Diff(want, file.Config); diff != "" || file.OS != "linux" || file.Architecture != runtime.GOARCH {
		t.Errorf("%s/%s, %s", file.OS, file.Architecture, diff)
	}

	programs := map[string]string{}
	files := mutate.Extract(image)
	defer files.Close() //nolint:errcheck // only read
	for r := tar.NewReader(files); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		errortest.None(t, err)
		if header.Typeflag != tar.TypeReg || header.Mode != 0o755 {
			continue
		}
		text, err := io.ReadAll(r)
		errortest.None(t, err)
		programs[header.Name] = string(text)
	}
	contents := map[string]string{"live": "the supervisor", "tar": "the supervisor", "events": "the service"}
	valuetest.Equal(t, contents, programs)
}

func TestAnImageWithoutANameOrAProgramIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"-ref", "a:b", "-out", "x.tar", "-live", "live"},
		{"-ref", "A B", "-out", "x.tar", "-live", "live", "events"},
	} {
		errortest.Some(t, run(t.Context(), args, nil), "%q was taken", args)
	}
}
