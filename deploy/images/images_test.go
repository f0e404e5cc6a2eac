package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/belfry-schools/belfry/deploy/images/layers"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// largest bounds the size of an image in a registry, in bytes.
const largest = 25e6

var (
	root string // of the checkout
	// command is the program under test, built as `make images` builds it: compressing is slow under the race detector.
	command string
	folder  string // with the archives
	images  []opened
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

// testMain builds every image for both platforms from this checkout, and reads them back, once.
func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "images")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // the system clears its temporary folder
		root, err = checkout.Root()
	}
	command, folder = filepath.Join(dir, "images"), filepath.Join(dir, "archives")
	if err == nil {
		err = execute(root, "go", "build", "-o", command, "./deploy/images")
	}
	if err == nil {
		err = execute(root, command, "-out", folder, "-version", "1.2.3", "-registry", "registry.test/belfry")
	}
	for _, p := range programs() {
		if err == nil {
			err = readImages(p.name)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// execute runs a command in a folder; the error has its output.
func execute(dir, name string, args ...string) error {
	c := exec.CommandContext(context.Background(), name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// opened is an image read back from its archive.
type opened struct {
	program, platform string
	config            *v1.ConfigFile
	manifest          *v1.Manifest
	headers           map[string]*tar.Header
	texts             map[string][]byte
}

// each runs a test on every image of every archive.
func each(t *testing.T, test func(t *testing.T, o opened)) {
	t.Helper()
	valuetest.MustSame(t, len(images), 2*len(programs()), "images")
	for _, o := range images {
		t.Run(o.program+" "+o.platform, func(t *testing.T) { test(t, o) })
	}
}

// readImages reads the images of a program's archive.
func readImages(program string) error {
	index, _, err := openArchive(program)
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range manifest.Manifests {
		o, err := openImage(index, d, program)
		if err != nil {
			return fmt.Errorf("%s for %s: %w", program, d.Platform, err)
		}
		images = append(images, o)
	}
	return nil
}

// openArchive unpacks a program's archive next to it, and returns its index and the descriptor that names that.
func openArchive(program string) (v1.ImageIndex, v1.Descriptor, error) {
	archive := filepath.Join(folder, "belfry-"+program+".tar")
	dir := archive + ".unpacked"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, v1.Descriptor{}, err
	}
	if err := execute(dir, "tar", "-xf", archive); err != nil {
		return nil, v1.Descriptor{}, err
	}
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, v1.Descriptor{}, err
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, v1.Descriptor{}, err
	}
	if n := len(manifest.Manifests); n != 1 {
		return nil, v1.Descriptor{}, fmt.Errorf("%s names %d indexes", archive, n)
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	return index, manifest.Manifests[0], err
}

func openImage(index v1.ImageIndex, d v1.Descriptor, program string) (opened, error) {
	image, err := index.Image(d.Digest)
	if err != nil {
		return opened{}, err
	}
	config, configErr := image.ConfigFile()
	manifest, manifestErr := image.Manifest()
	if err := errors.Join(configErr, manifestErr); err != nil {
		return opened{}, err
	}
	o := opened{program: program, platform: d.Platform.String(), config: config, manifest: manifest,
		headers: map[string]*tar.Header{}, texts: map[string][]byte{}}
	files := mutate.Extract(image)
	defer files.Close() //nolint:errcheck // only read
	for r := tar.NewReader(files); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return o, nil
		}
		if err != nil {
			return o, err
		}
		name := strings.TrimSuffix(header.Name, "/")
		o.headers[name] = header
		if o.texts[name], err = io.ReadAll(r); err != nil {
			return o, err
		}
	}
}

func TestAnArchiveHoldsAnImageForEachPlatformUnderItsName(t *testing.T) {
	for _, p := range programs() {
		index, d, err := openArchive(p.name)
		errortest.None(t, err)
		manifest, err := index.IndexManifest()
		errortest.None(t, err)
		platforms := sequence.Map(manifest.Manifests, func(m v1.Descriptor) string { return m.Platform.String() })
		valuetest.List(t, platforms, []string{"linux/amd64", "linux/arm64"}, "%s: platforms", p.name)
		want := map[string]string{"io.containerd.image.name": "registry.test/belfry/belfry-" + p.name + ":1.2.3",
			"org.opencontainers.image.ref.name": "1.2.3"}
		if diff := cmp.Diff(want, d.Annotations); diff != "" {
			t.Errorf("%s: %s", p.name, diff)
		}
	}
}

func TestImagesAreSmall(t *testing.T) {
	each(t, func(t *testing.T, o opened) {
		compressed := int64(0)
		for _, l := range o.manifest.Layers {
			compressed += l.Size
		}
		if compressed < 1e6 || compressed > largest {
			t.Errorf("%.1f MB, at most %.0f are allowed", float64(compressed)/1e6, largest/1e6)
		}
	})
}

func TestImagesRunTheirProgramAsAUserWithoutRights(t *testing.T) {
	each(t, func(t *testing.T, o opened) {
		want := v1.Config{User: "65532:65532", WorkingDir: "/", Env: []string{"PATH=/"},
			Entrypoint: []string{"/" + o.program}, Labels: o.config.Config.Labels,
			ExposedPorts: o.config.Config.ExposedPorts}
		valuetest.Equal(t, want, o.config.Config)
		valuetest.Same(t, o.config.OS+"/"+o.config.Architecture, o.platform, "the image of %s says", o.platform)
		ports := slices.Sorted(maps.Keys(o.config.Config.ExposedPorts))
		listens := slices.Equal(ports, []string{"8080/tcp", "8081/tcp", "9090/tcp"})
		valuetest.Same(t, listens, o.program != "belfryctl", "ports %v", ports)
	})
}

func TestNobodyButRootMayChangeWhatAnImageHolds(t *testing.T) {
	each(t, func(t *testing.T, o opened) {
		for name, h := range o.headers {
			mode, want := h.Mode&0o7022, int64(0)
			if name == "tmp" {
				want = 0o1022
			}
			if h.Uid != 0 || h.Gid != 0 || mode != want {
				t.Errorf("%s belongs to %d:%d and has mode %o", name, h.Uid, h.Gid, h.Mode)
			}
		}
	})
}

func TestImagesHoldTheProgramAndWhatItNeeds(t *testing.T) {
	each(t, func(t *testing.T, o opened) {
		names := slices.Sorted(maps.Keys(o.headers))
		want := []string{"etc", "etc/group", "etc/passwd", "etc/ssl", "etc/ssl/certs",
			"etc/ssl/certs/ca-certificates.crt", "tmp", o.program}
		slices.Sort(want)
		valuetest.Equal(t, want, names)
		if !bytes.Contains(o.texts["etc/passwd"], []byte(":65532:65532:")) {
			t.Errorf("passwd does not know the user: %s", o.texts["etc/passwd"])
		}
		if h := o.headers[o.program]; h == nil || h.Mode != 0o755 {
			t.Errorf("the program cannot be run: %+v", h)
		}
	})
}

func TestImagesTrustTheAuthoritiesThatEverybodyTrusts(t *testing.T) {
	pool := x509.NewCertPool()
	text := layers.Authorities()
	valuetest.MustHold(t, pool.AppendCertsFromPEM(text), "no certificate can be read")
	if n := bytes.Count(text, []byte("BEGIN CERTIFICATE")); n < 100 {
		t.Errorf("%d authorities, want at least 100", n)
	}
	each(t, func(t *testing.T, o opened) {
		if !bytes.Equal(o.texts["etc/ssl/certs/ca-certificates.crt"], text) {
			t.Error("the image holds other authorities")
		}
	})
}

func TestProgramsAreStaticAndOfTheImagesPlatform(t *testing.T) {
	machines := map[string]elf.Machine{"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64}
	each(t, func(t *testing.T, o opened) {
		program, err := elf.NewFile(bytes.NewReader(o.texts[o.program]))
		errortest.None(t, err)
		valuetest.Same(t, program.Machine, machines[o.platform], "a program for")
		for _, p := range program.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("the program wants a dynamic linker: %s", p.Type)
			}
		}
		if bytes.Contains(o.texts[o.program], []byte(root+"/")) {
			t.Error("the program holds the path of the checkout")
		}
	})
}

func TestImagesSayWhatTheyAreMadeFrom(t *testing.T) {
	head, err := exec.CommandContext(t.Context(), "git", "-C", root, "rev-parse", "HEAD").Output()
	errortest.None(t, err)
	commit := strings.TrimSpace(string(head))
	each(t, func(t *testing.T, o opened) {
		labels := o.config.Config.Labels
		if diff := cmp.Diff(labels, o.manifest.Annotations); diff != "" {
			t.Errorf("labels and annotations differ: %s", diff)
		}
		valuetest.Same(t, labels["org.opencontainers.image.version"], "1.2.3", "version")
		valuetest.Same(t, strings.TrimSuffix(labels["org.opencontainers.image.revision"], "-dirty"), commit, "revision")
		if !bytes.Contains(o.texts[o.program], []byte(commit)) {
			t.Error("the program itself does not know its commit")
		}
		if len(labels["org.opencontainers.image.title"]) == 0 ||
			labels["org.opencontainers.image.licenses"] != "Apache-2.0" {
			t.Errorf("labels %v", labels)
		}
	})
}

// cloned returns a clone of the checkout.
func cloned(t *testing.T) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "belfry")
	out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", root, clone).CombinedOutput()
	errortest.None(t, err, "%s", out)
	return clone
}

// The second build shares nothing with the first: it has another folder and another cache, which holds second builds
// alone and is kept, since compiling Belfry's dependencies takes a minute.
func TestTheSameCommitGivesTheSameBytes(t *testing.T) {
	caches, err := os.UserCacheDir()
	errortest.None(t, err)
	var archives [2][]byte
	for i := range archives {
		clone := cloned(t)
		if i == 1 {
			t.Setenv("GOCACHE", filepath.Join(caches, "belfry", "second-build"))
		}
		err := execute(clone, command, "-only", "belfryctl", "-platforms", "linux/amd64", "-out", "out", "-version",
			"1")
		errortest.None(t, err)
		archives[i], err = os.ReadFile(filepath.Join(clone, "out", "belfry-belfryctl.tar"))
		errortest.None(t, err)
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Errorf("two builds of one commit differ: %d and %d bytes", len(archives[0]), len(archives[1]))
	}
}

func TestACheckoutWithChangesSaysSo(t *testing.T) {
	clone := cloned(t)
	clean, err := describe(t.Context(), clone, "")
	errortest.None(t, err)
	if strings.Contains(clean.revision+clean.version, "dirty") || clean.created.IsZero() {
		t.Errorf("an unchanged checkout is %+v", clean)
	}
	errortest.None(t, os.WriteFile(filepath.Join(clone, "README.md"), []byte("changed"), 0o600))
	changed, err := describe(t.Context(), clone, "")
	errortest.None(t, err)
	if changed.revision != clean.revision+"-dirty" || changed.version != clean.version+"-dirty" {
		t.Errorf("a changed checkout is %+v", changed)
	}
	errortest.Some(t, errortest.Of(describe(t.Context(), t.TempDir(), "1")), "a folder without a commit is accepted")
}

func TestArgumentsThatMeanNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"all"}, {"-only", "identity,unknown"}, {"-platforms", "windows/amd64"},
		{"-platforms", "linux"}, {"-nothing"}} {
		errortest.Some(t, errortest.Of(parse(args)), "%v is accepted", args)
	}
	o, err := parse([]string{"-only", "notes,identity", "-platforms", "linux/arm64"})
	valuetest.Holds(t, err == nil && len(o.programs) == 2 && len(o.platforms) == 1, "%+v, %v", o, err)
}
