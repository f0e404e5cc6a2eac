package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// keys makes a key of that name and returns the files of its private and its public part.
func keys(t *testing.T, name string) (private, public string) {
	t.Helper()
	key, err := openpgp.NewEntity(name, "", name+"@school.example",
		&packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048, DefaultHash: crypto.SHA256})
	errortest.None(t, err)
	write := func(file string, serialize func(io.Writer) error) string {
		var text bytes.Buffer
		errortest.None(t, serialize(&text))
		path := filepath.Join(t.TempDir(), file)
		errortest.None(t, os.WriteFile(path, text.Bytes(), 0o600))
		return path
	}
	return write("secring.gpg", func(w io.Writer) error { return key.SerializePrivate(w, nil) }),
		write("pubring.gpg", key.Serialize)
}

// do runs Helm and returns what it prints; it must succeed.
func do(t *testing.T, version string, args ...string) string {
	t.Helper()
	out, errs, err := helm(version, args...)
	errortest.None(t, err, "%s %q\n%s%s", version, args, out, errs)
	return out
}

// packaged packages the chart, signed with the key, and returns the package's file.
func packaged(t *testing.T, version, keyring string) string {
	t.Helper()
	dir := t.TempDir()
	do(t, version, "package", "charts/belfry", "--destination", dir, "--sign", "--key", "belfry", "--keyring", keyring)
	found, err := filepath.Glob(filepath.Join(dir, "belfry-*.tgz"))
	valuetest.MustHold(t, err == nil && len(found) == 1, "packaged %q, %v", found, err)
	return found[0]
}

// What one kind of Helm packages, signs and pushes to a registry, the other pulls from it, verifies, and renders as the
// folder.
func TestThePackageComesFromARegistryAsItWasSigned(t *testing.T) {
	private, public := keys(t, "belfry")
	for from, to := range map[string]string{"helm 3": "helm 4", "helm 4": "helm 3"} {
		server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
		t.Cleanup(server.Close)
		address := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts"
		archive := packaged(t, from, private)
		do(t, from, "verify", archive, "--keyring", public)
		do(t, from, "push", archive, address, "--plain-http")

		dir := t.TempDir()
		version := regexp.MustCompile(`belfry-(.*)\.tgz$`).FindStringSubmatch(archive)[1]
		do(t, to, "pull", address+"/belfry", "--version", version, "--plain-http", "--verify", "--keyring", public,
			"--destination", dir)
		pushed, err := os.ReadFile(archive)
		pulled, err2 := os.ReadFile(filepath.Join(dir, filepath.Base(archive)))
		if err = errors.Join(err, err2); err != nil || !bytes.Equal(pushed, pulled) {
			t.Errorf("%s to %s: what is pulled is not what was pushed: %v", from, to, err)
		}
		const values = "charts/belfry/examples/school.yaml"
		rendered := do(t, to, "template", "belfry", address+"/belfry", "--version", version, "--plain-http",
			"--namespace", "schools", "--kube-version", kubernetes, "--values", values)
		if diff := cmp.Diff(template(t, to, "--values", values), rendered); diff != "" {
			t.Errorf("%s to %s:\n%s", from, to, diff)
		}
	}
}

// A package that was changed, or signed with another key, is refused.
func TestAnotherPackageIsRefused(t *testing.T) {
	private, public := keys(t, "belfry")
	_, stranger := keys(t, "stranger")
	archive := packaged(t, "helm 4", private)
	for version := range programs {
		out, errs, err := helm(version, "verify", archive, "--keyring", stranger)
		errortest.Some(t, err, "%s takes a stranger's signature: %s%s", version, out, errs)
	}
	content, err := os.ReadFile(archive)
	errortest.None(t, err)
	errortest.None(t, os.WriteFile(archive, append(content, 0), 0o600))
	for version := range programs {
		out, errs, err := helm(version, "verify", archive, "--keyring", public)
		errortest.Some(t, err, "%s takes what was changed: %s%s", version, out, errs)
	}
}

// The package has what its users need, and nothing that only the repository needs. Helm keeps it in a Secret of each
// release, which has 1 MiB.
func TestThePackageHasWhatBelongsIntoIt(t *testing.T) {
	private, _ := keys(t, "belfry")
	archive, err := os.ReadFile(packaged(t, "helm 4", private))
	errortest.None(t, err)
	valuetest.Holds(t, len(archive) <= 64<<10, "%d bytes", len(archive))
	files := unpacked(t, archive)
	for _, name := range []string{"README.md", "LICENSE", "icon.svg", "values.schema.json", "files/routes.yaml"} {
		valuetest.Holds(t, len(files[name]) != 0, "no %s", name)
	}
	for name := range files {
		valuetest.Holds(t, !strings.HasPrefix(name, "examples/"), "%s is in the package", name)
	}
	valuetest.Same(t, checkout.Read(t, "LICENSE"), string(files["LICENSE"]),
		"its licence is not that of the repository")
}

// Artifact Hub scans the images that a package installs, and shows the key that signed it.
func TestThePackageTellsArtifactHubOfItsImagesAndKey(t *testing.T) {
	private, public := keys(t, "belfry")
	const version, registry, address = "0.0.0-annotated", "registry.example/school", "https://school.example/key.asc"
	archive := filepath.Join(root, ".local", "chart", "belfry-"+version+".tgz")
	t.Cleanup(func() { _ = errors.Join(os.Remove(archive), os.Remove(archive+".prov")) })
	command := exec.Command(filepath.Join(root, ".ci", "package"))
	command.Env = append(os.Environ(), "VERSION="+version, "REGISTRY="+registry, "KEY=belfry", "KEYRING="+private,
		"KEY_URL="+address)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	do(t, "helm 4", "verify", archive, "--keyring", public)
	packed, err := os.ReadFile(archive)
	errortest.None(t, err)
	var metadata struct{ Annotations map[string]string }
	errortest.None(t, yaml.Unmarshal(unpacked(t, packed)["Chart.yaml"], &metadata))
	var images []struct{ Name, Image string }
	var key struct{ Fingerprint, URL string }
	err = errors.Join(yaml.Unmarshal([]byte(metadata.Annotations["artifacthub.io/images"]), &images),
		yaml.Unmarshal([]byte(metadata.Annotations["artifacthub.io/signKey"]), &key))
	errortest.None(t, err)
	var got, want []string
	for _, image := range images {
		got = append(got, image.Image)
	}
	for _, name := range append([]string{"belfryctl"}, services...) {
		want = append(want, registry+"/belfry-"+name+":"+version)
	}
	slices.Sort(got)
	slices.Sort(want)
	valuetest.List(t, got, want, "the images")
	ring, err := os.Open(public)
	errortest.None(t, err)
	entities, err := openpgp.ReadKeyRing(ring)
	errortest.None(t, errors.Join(err, ring.Close()))
	fingerprint := fmt.Sprintf("%X", entities[0].PrimaryKey.Fingerprint)
	valuetest.Holds(t, key.Fingerprint == fingerprint && key.URL == address, "the key is %v, not %s", key, fingerprint)
}

// unpacked returns the files of a package, by their names in the chart.
func unpacked(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	errortest.None(t, err)
	files, reader := map[string][]byte{}, tar.NewReader(zipped)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		errortest.None(t, err)
		content, err := io.ReadAll(reader)
		errortest.None(t, err)
		files[strings.TrimPrefix(header.Name, "belfry/")] = content
	}
}

// Artifact Hub shows these annotations, each of them YAML in itself. What they and the package's README link to in the
// repository is there.
func TestWhatThePackageLinksToIsThere(t *testing.T) {
	chart := checkout.Read(t, "charts/belfry/Chart.yaml")
	var metadata struct{ Annotations map[string]string }
	errortest.None(t, yaml.Unmarshal([]byte(chart), &metadata))
	var links []struct{ Name, URL string }
	err := yaml.Unmarshal([]byte(metadata.Annotations["artifacthub.io/links"]), &links)
	valuetest.Holds(t, err == nil && len(links) >= 4, "links %v, %v", links, err)
	valuetest.Same(t, metadata.Annotations["artifacthub.io/license"], "Apache-2.0", "the licence")
	readme := checkout.Read(t, "charts/belfry/README.md")
	valuetest.Lacks(t, readme, "](../", "the README links to files that the package has not")
	in := regexp.MustCompile(`belfry-schools/belfry/(?:(?:blob|tree)/)?main/([^)\s}]+)`)
	found := in.FindAllStringSubmatch(chart+readme, -1)
	valuetest.Holds(t, len(found) >= 7, "only %d links", len(found))
	for _, link := range found {
		errortest.Report(t, errortest.Of(os.Stat(filepath.Join(root, filepath.FromSlash(link[1])))))
	}
}
