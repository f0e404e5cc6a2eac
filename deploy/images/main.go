// Command images builds Belfry's container images, without Docker: one OCI archive for each program, which holds an
// image for each platform. Beside them it writes what each program is made of (belfry-NAME.ARCHITECTURE.cdx.json, a
// CycloneDX SBOM), the licences of all parts (LICENCES.txt), and signatures for cosign where a key is given
// (belfry-NAME.sig.tar). A part whose licence is not known or not allowed is an error.
//
// An image is a static program, /NAME, on two files and a folder: /etc/passwd, the certificate authorities, and
// /tmp. It runs as user 65532. The same commit results in the same bytes, wherever and whenever it is built by the same
// version of Go. Images carry the commit and the version as labels and annotations.
//
// With -chart it writes a chart's package as an OCI archive, in the form in which registries keep charts.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/sigstore/sigstore/pkg/signature"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// options say what is built, from which checkout, and where the archives go.
type options struct {
	checkout  string
	out       string // a folder, made when it is missing
	registry  string // what image names begin with, such as registry.school.example/belfry; may be empty
	version   string // the tag; empty means the checkout's own
	programs  []program
	platforms []v1.Platform
	signer    signature.Signer // nil: nothing is signed
	chart     string           // the package of a chart, which is written instead of the images
}

func main() { process.Main("images", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	o.checkout = root
	if !filepath.IsAbs(o.out) {
		o.out = filepath.Join(root, o.out)
	}
	if o.chart != "" {
		path, err := writeChart(o.chart, o.out)
		if err == nil {
			_, err = fmt.Fprintln(out, path)
		}
		return err
	}
	built, err := build(ctx, o)
	if err != nil {
		return err
	}
	return report(out, built)
}

func parse(args []string) (options, error) {
	var o options
	var only, platforms, key string
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", ".local/images", "`folder` for the archives, seen from the checkout")
	flags.StringVar(&o.registry, "registry", "",
		"what the images' names begin with, such as `registry.school.example/belfry`")
	flags.StringVar(&o.version, "version", "", "`tag` of the images (default: the tag of the commit, or the commit)")
	flags.StringVar(&key, "sign-key", "", "`file` with the private key that signs the images (default: the PEM in "+
		keyVariable+"); "+passwordVariable+" is the password of an encrypted one")
	flags.StringVar(&only, "only", "", "`names` of the programs, separated by commas (default: all)")
	flags.StringVar(&platforms, "platforms", "linux/amd64,linux/arm64", "`platforms`, separated by commas")
	flags.StringVar(&o.chart, "chart", "", "`file` of a chart's package: write it as an OCI archive, and no images")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	var err error
	if o.signer, err = signerFrom(key); err != nil {
		return o, err
	}
	for name := range strings.SplitSeq(platforms, ",") {
		p, err := v1.ParsePlatform(name)
		if err != nil || p.OS != "linux" || p.Architecture == "" {
			return o, fmt.Errorf("-platforms: %q is not like linux/amd64", name)
		}
		o.platforms = append(o.platforms, *p)
	}
	o.programs = programs()
	if only == "" {
		return o, nil
	}
	wanted := strings.Split(only, ",")
	for _, name := range wanted {
		if !slices.ContainsFunc(o.programs, func(p program) bool { return p.name == name }) {
			return o, fmt.Errorf("-only: there is no program %q", name)
		}
	}
	o.programs = slices.DeleteFunc(o.programs, func(p program) bool { return !slices.Contains(wanted, p.name) })
	return o, nil
}

// built is one image of an archive.
type built struct {
	reference    string
	platform     string
	digest       v1.Hash
	compressed   int64 // bytes of all layers, as a registry keeps them
	uncompressed int64 // bytes of all layers, as a node keeps them
}

func report(out io.Writer, images []built) error {
	for _, i := range images {
		const mb = 1e6
		_, err := fmt.Fprintf(out, "%-40s %-12s %5.1f MB, %5.1f MB unpacked  %s\n", i.reference, i.platform,
			float64(i.compressed)/mb, float64(i.uncompressed)/mb, i.digest)
		if err != nil {
			return err
		}
	}
	return nil
}
