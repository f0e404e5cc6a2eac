package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// packed returns the files as the package of a chart is.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for name, text := range files {
		errortest.None(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		errortest.None(t, errortest.Of(w.Write([]byte(text))))
	}
	errortest.None(t, errors.Join(w.Close(), zipped.Close()))
	return out.Bytes()
}

func TestWriteChart_IsAsRegistriesKeepIt(t *testing.T) {
	dir := t.TempDir()
	file, content := filepath.Join(dir, "belfry-1.2.3.tgz"),
		packed(t, map[string]string{"belfry/Chart.yaml": "apiVersion: v2\nname: belfry\nversion: 1.2.3\n"})
	errortest.None(t, os.WriteFile(file, content, 0o600))
	path, err := writeChart(file, dir)
	valuetest.MustHold(t, err == nil && filepath.Base(path) == "belfry-chart-1.2.3.oci.tar", "%s, %v", path, err)
	archive, err := os.Open(path)
	errortest.None(t, err)
	defer func() { _ = archive.Close() }()
	var all []string // the archive's files
	for files := tar.NewReader(archive); ; {
		_, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		errortest.None(t, err)
		text, err := io.ReadAll(files)
		errortest.None(t, err)
		all = append(all, string(text))
	}
	joined := strings.Join(all, "\n")
	for _, want := range []string{
		string(content), `{"apiVersion":"v2","name":"belfry","version":"1.2.3"}`, string(chartConfig), string(chartContent),
		`"org.opencontainers.image.ref.name": "1.2.3"`,
	} {
		valuetest.Has(t, joined, want, "the archive")
	}
	for _, text := range all {
		var manifest struct{ Config struct{ MediaType string } }
		if json.Unmarshal([]byte(text), &manifest) == nil && manifest.Config.MediaType == string(chartConfig) {
			return
		}
	}
	t.Error("no manifest has the chart's configuration")
}

func TestWriteChart_RefusesWhatIsNone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "other.tgz")
	for _, content := range [][]byte{[]byte("text"), packed(t, map[string]string{"other/values.yaml": "a: 1\n"})} {
		errortest.None(t, os.WriteFile(file, content, 0o600))
		errortest.Says(t, errortest.Of(writeChart(file, dir)), "is not a chart's package")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.oci.tar"))
	valuetest.Holds(t, err == nil && len(left) == 0, "it leaves %q, %v", left, err)
}
