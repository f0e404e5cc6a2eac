package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Helm's media types, by which it knows a chart in a registry.
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chart is a chart's package as `helm push` puts it into a registry.
type chart struct {
	config, manifest []byte
	layer            partial.CompressedLayer
}

// writeChart writes a chart's package as an OCI archive into a folder, and returns the archive's path.
func writeChart(file, out string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	metadata, err := chartMetadata(content)
	if err != nil {
		return "", fmt.Errorf("%s is not a chart's package: %w", file, err)
	}
	c := chart{layer: static.NewLayer(content, chartContent)}
	if c.config, err = json.Marshal(metadata); err != nil {
		return "", err
	}
	described, err := partial.Descriptor(static.NewLayer(content, chartContent))
	if err != nil {
		return "", err
	}
	digest, size, err := v1.SHA256(bytes.NewReader(c.config))
	if err != nil {
		return "", err
	}
	c.manifest, err = json.Marshal(v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Config: v1.Descriptor{MediaType: chartConfig, Digest: digest, Size: size}, Layers: []v1.Descriptor{*described}})
	if err != nil {
		return "", err
	}
	image, err := partial.CompressedToImage(c)
	if err != nil {
		return "", err
	}
	draft, err := os.MkdirTemp(out, ".chart-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(draft) }() // leftovers do no harm
	name, version := fmt.Sprint(metadata["name"]), fmt.Sprint(metadata["version"])
	path := filepath.Join(out, name+"-chart-"+version+".oci.tar")
	return path, writeArchive(path, filepath.Join(draft, "layout"), image, name+":"+version, version)
}

// chartMetadata returns what Chart.yaml in a chart's package says.
func chartMetadata(content []byte) (map[string]any, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it has no Chart.yaml")
		}
		if err != nil {
			return nil, err
		}
		if ok, _ := filepath.Match("*/Chart.yaml", header.Name); !ok {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		var metadata map[string]any
		return metadata, yaml.Unmarshal(text, &metadata)
	}
}

func (c chart) RawConfigFile() ([]byte, error)                         { return c.config, nil }
func (c chart) RawManifest() ([]byte, error)                           { return c.manifest, nil }
func (chart) MediaType() (types.MediaType, error)                      { return types.OCIManifestSchema1, nil }
func (c chart) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return c.layer, nil }
