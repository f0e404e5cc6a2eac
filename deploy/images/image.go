package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/belfry-schools/belfry/deploy/images/layers"
)

// build makes an archive for each program and returns what is in them.
func build(ctx context.Context, o options) (all []built, err error) {
	src, err := describe(ctx, o.checkout, o.version)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return nil, err
	}
	draft, err := os.MkdirTemp(o.out, "draft")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	ground, err := layers.Ground()
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for _, platform := range o.platforms {
		if folders[platform.String()], err = compile(ctx, o, platform, draft); err != nil {
			return nil, err
		}
	}
	if err := describeParts(ctx, o, src, folders); err != nil {
		return nil, err
	}
	for _, p := range o.programs {
		repository := path.Join(o.registry, "belfry-"+p.name)
		reference := repository + ":" + src.version
		archive := filepath.Join(o.out, "belfry-"+p.name+".tar")
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for _, platform := range o.platforms {
			image, err := newImage(p, platform, filepath.Join(folders[platform.String()], p.name), ground, src)
			if err != nil {
				return nil, fmt.Errorf("%s for %s: %w", p.name, platform, err)
			}
			index = mutate.AppendManifests(index,
				mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
			b, err := measure(image)
			if err != nil {
				return nil, err
			}
			b.reference, b.platform = reference, platform.String()
			all = append(all, b)
		}
		if err := writeArchive(archive, filepath.Join(draft, p.name), index, reference, src.version); err != nil {
			return nil, err
		}
		if err := writeSignature(o, index, repository, filepath.Join(draft, p.name+".sig")); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// describeParts writes the inventory of each program for each platform, and the licences of all of them.
func describeParts(ctx context.Context, o options, src source, folders map[string]string) error {
	var all []part
	for _, platform := range o.platforms {
		for _, p := range o.programs {
			parts, err := partsOf(ctx, o.checkout, filepath.Join(folders[platform.String()], p.name))
			if err != nil {
				return fmt.Errorf("%s for %s: %w", p.name, platform, err)
			}
			file := fmt.Sprintf("belfry-%s.%s.cdx.json", p.name, platform.Architecture)
			if err := inventory(filepath.Join(o.out, file), p, platform, src, parts); err != nil {
				return err
			}
			all = append(all, parts...)
		}
	}
	slices.SortStableFunc(all, func(a, b part) int { return strings.Compare(a.path, b.path) })
	all = slices.CompactFunc(all, func(a, b part) bool { return a.path == b.path && a.version == b.version })
	file, err := os.Create(filepath.Join(o.out, "LICENCES.txt"))
	if err != nil {
		return err
	}
	return errors.Join(writeLicences(file, all), file.Close())
}

// writeSignature writes the archive of the signature of an index, where there is a key.
func writeSignature(o options, index v1.ImageIndex, repository, draft string) error {
	if o.signer == nil {
		return nil
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	image, tag, err := sign(o.signer, repository, digest)
	if err != nil {
		return err
	}
	return writeArchive(filepath.Join(o.out, path.Base(repository)+".sig.tar"), draft, image, repository+":"+tag, tag)
}

// newImage returns the image of a program on the ground layer, with the configuration that a container needs to run
// it.
func newImage(p program, platform v1.Platform, binary string, ground v1.Layer, src source) (v1.Image, error) {
	top, err := layers.Program(p.name, binary, src.created, layers.Kept)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		"org.opencontainers.image.title":    p.title,
		"org.opencontainers.image.version":  src.version,
		"org.opencontainers.image.revision": src.revision,
		"org.opencontainers.image.created":  src.created.Format("2006-01-02T15:04:05Z"),
		"org.opencontainers.image.source":   "https://github.com/belfry-schools/belfry",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	config := v1.Config{User: layers.User, WorkingDir: "/", Env: []string{"PATH=/"}, Entrypoint: []string{"/" + p.name},
		Labels: labels}
	if p.listens {
		config.ExposedPorts = map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}, "9090/tcp": {}}
	}
	created := v1.Time{Time: src.created}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{OS: platform.OS, Architecture: platform.Architecture,
		Created: created, Config: config, RootFS: v1.RootFS{Type: "layers"}})
	if err != nil {
		return nil, err
	}
	image, err = mutate.Append(image,
		mutate.Addendum{Layer: ground, History: v1.History{Created: created, CreatedBy: "belfry images: ground"}},
		mutate.Addendum{Layer: top, History: v1.History{Created: created, CreatedBy: "belfry images: " + p.name}})
	if err != nil {
		return nil, err
	}
	annotated, ok := mutate.Annotations(image, labels).(v1.Image)
	if !ok {
		return nil, errors.New("the annotated image is not an image")
	}
	return annotated, nil
}

func measure(image v1.Image) (built, error) {
	var b built
	layers, err := image.Layers()
	if err != nil {
		return b, err
	}
	for _, l := range layers {
		compressed, err := l.Size()
		if err != nil {
			return b, err
		}
		uncompressed, err := partial.UncompressedSize(l)
		if err != nil {
			return b, err
		}
		b.compressed, b.uncompressed = b.compressed+compressed, b.uncompressed+uncompressed
	}
	b.digest, err = image.Digest()
	return b, err
}
