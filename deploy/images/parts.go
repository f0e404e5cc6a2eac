package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/licensecheck"
)

// own is the prefix of the paths of Belfry's own modules.
const own = "github.com/belfry-schools/belfry"

// recognised is the percentage of a licence's text that has to be known; the rest may say which files it is of.
const recognised = 85

// allowed are the licences of what Belfry's programs are made of: none requires more than its text beside the program.
// CC-BY-4.0 is that of a module's documentation.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "ISC", "MIT"}

// part is a module that a program is made of, Go itself among them.
type part struct {
	path, version, sum string
	licences           []string          // SPDX
	texts              map[string]string // by the names of files
}

// partsOf returns what is compiled into a program, as its build information says, in the order of their paths. It finds
// the modules' folders from the checkout.
func partsOf(ctx context.Context, checkout, binary string) ([]part, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("%s does not say what it is made of: %w", filepath.Base(binary), err)
	}
	goroot, err := output(ctx, checkout, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	folders := map[string]string{"std": strings.TrimSpace(goroot)}
	all := []part{{path: "std", version: strings.TrimPrefix(info.GoVersion, "go")}}
	list := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, m := range info.Deps {
		if strings.HasPrefix(m.Path, own) {
			continue
		}
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: say in parts.go what that means", m.Path, m.Replace.Path)
		}
		all = append(all, part{path: m.Path, version: m.Version, sum: m.Sum})
		list = append(list, m.Path)
	}
	said, err := output(ctx, checkout, "go", list...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(said) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		folders[path] = folder
	}
	for i := range all {
		if all[i].licences, all[i].texts, err = licencesIn(folders[all[i].path]); err != nil {
			return nil, fmt.Errorf("%s %s: %w", all[i].path, all[i].version, err)
		}
	}
	slices.SortFunc(all, func(a, b part) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// output runs a command in a folder and returns what it prints.
func output(ctx context.Context, folder, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = folder
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, exit.Stderr)
	}
	return string(out), err
}

// licencesIn returns the licences of a module, as the files at its top say, and the texts of these files, notices
// included. One that is not known or not allowed is an error.
func licencesIn(folder string) (ids []string, texts map[string]string, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, err
	}
	texts = map[string]string{}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		licence := strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") ||
			strings.HasPrefix(name, "COPYING")
		if f.IsDir() || !licence && !strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "PATENTS") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, nil, err
		}
		texts[f.Name()] = string(text)
		if !licence {
			continue
		}
		found := licensecheck.Scan(text)
		if found.Percent < recognised {
			return nil, nil, fmt.Errorf("%s is not a known licence (%.0f %%)", f.Name(), found.Percent)
		}
		for _, m := range found.Match {
			if !slices.Contains(allowed, m.ID) {
				return nil, nil, fmt.Errorf("%s: the licence %s is not allowed", f.Name(), m.ID)
			}
			if !slices.Contains(ids, m.ID) {
				ids = append(ids, m.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil, errors.New("it has no licence")
	}
	slices.Sort(ids)
	return ids, texts, nil
}

// inventory writes what a program is made of: a CycloneDX document (SBOM) for scanners. The same commit results in the
// same bytes.
func inventory(path string, p program, platform v1.Platform, src source, parts []part) error {
	bom := cdx.NewBOM()
	name := "pkg:golang/" + own + strings.TrimPrefix(p.path, ".") + "@" + src.version
	bom.Metadata = &cdx.Metadata{
		Timestamp: src.created.Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{BOMRef: name, Type: cdx.ComponentTypeApplication, Name: "belfry-" + p.name,
			Version: src.version, Description: p.title, Licenses: licences([]string{"Apache-2.0"}),
			Properties: &[]cdx.Property{
				{Name: "belfry:platform", Value: platform.String()}, {Name: "belfry:revision", Value: src.revision}}},
	}
	var components []cdx.Component
	var refs []string
	for _, part := range parts {
		ref := "pkg:golang/" + part.path + "@" + part.version
		refs = append(refs, ref)
		c := cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: part.path, Version: part.version,
			PackageURL: ref, Licenses: licences(part.licences)}
		if part.sum != "" { // Go's own checksum, of a folder and not of a file
			c.Properties = &[]cdx.Property{{Name: "belfry:go.sum", Value: part.sum}}
		}
		components = append(components, c)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: name, Dependencies: &refs}}
	var text bytes.Buffer
	if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return fmt.Errorf("encode the SBOM of %s: %w", p.name, err)
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

func licences(ids []string) *cdx.Licenses {
	var all cdx.Licenses
	for _, id := range ids {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &all
}

// writeLicences writes the texts of the licences of all parts, each text once, below the modules that have it.
func writeLicences(w io.Writer, parts []part) error {
	holders := map[string][]string{}
	var texts []string
	for _, p := range parts {
		for _, file := range slices.Sorted(maps.Keys(p.texts)) {
			text := p.texts[file]
			if holders[text] == nil {
				texts = append(texts, text)
			}
			holders[text] = append(holders[text], p.path+" "+p.version+" ("+file+")")
		}
	}
	for _, text := range texts {
		if _, err := fmt.Fprintf(w, "%s\n\n%s\n%s\n", strings.Join(holders[text], "\n"), strings.TrimSpace(text),
			strings.Repeat("-", 80)); err != nil {
			return err
		}
	}
	return nil
}
