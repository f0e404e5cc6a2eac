// Command generators tries the interface's document, as a running Belfry serves it, with programs of npm. Spectral and
// Redocly must find nothing in it, and the types that openapi-typescript makes of it must let a strict TypeScript
// program take the README's walk. It needs node and npm; the packages are those of package-lock.json, and none of their
// scripts is run.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/belfry-schools/belfry/deploy/local/localrun"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

//go:embed package.json package-lock.json .npmrc .spectral.yaml tsconfig.json walk.ts
var project embed.FS

// prints is the file of what the walk prints, by whatever client.
const prints = "test/endtoend/testdata/generated/prints.txt"

func main() { process.Main("generators", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("generators", flag.ContinueOnError)
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	p := tools{dir: filepath.Join(root, ".local", "generators"), out: out}
	if err := p.install(ctx); err != nil {
		return err
	}
	belfry, err := start(ctx, p.dir)
	if err != nil {
		return err
	}
	if err := errors.Join(p.try(ctx, root, belfry.URL), belfry.Stop()); err != nil {
		return err
	}
	fmt.Fprintln(out, "The document has no finding, and the walk in TypeScript does what it should.")
	return os.RemoveAll(filepath.Join(p.dir, data))
}

// data is the folder of the Belfry that is started, below that of the tools.
const data = "data"

// start starts a Belfry with stores and a demo school of its own.
func start(ctx context.Context, dir string) (*localrun.Run, error) {
	binary, folder := filepath.Join(dir, "local"), filepath.Join(dir, data)
	if err := errors.Join(os.RemoveAll(folder), localrun.Build(ctx, binary)); err != nil {
		return nil, err
	}
	return localrun.Start(ctx, localrun.Command(binary, folder, "DEMO_FIRST_YEAR=2026"))
}

// tools are the programs of npm, in a folder of the checkout that git ignores.
type tools struct {
	dir string
	out io.Writer
}

// install copies the project there and installs what its lock file names. An error says what is missing on the machine.
func (p tools) install(ctx context.Context) error {
	const needs = "node 20.19 or newer, and npm, are needed (Debian 13 has them: nodejs, npm)"
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s: %w", needs, err)
		}
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	version, err := p.output(ctx, nil, "node", "--version")
	if err != nil {
		return err
	}
	if semver.Compare(strings.TrimSpace(version), "v20.19.0") < 0 {
		return fmt.Errorf("%s: this one is %s", needs, version)
	}
	entries, err := project.ReadDir(".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		text, err := project.ReadFile(entry.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(p.dir, entry.Name()), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return p.command(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
}

// command runs a program there. What it prints is in the error, when it fails.
func (p tools) command(ctx context.Context, name string, arguments ...string) error {
	_, err := p.output(ctx, nil, name, arguments...)
	return err
}

// output runs a program there, with more variables, and returns what it prints. The error has that too.
func (p tools) output(ctx context.Context, variables []string, name string, arguments ...string) (string, error) {
	fmt.Fprintln(p.out, "==", filepath.Base(name), strings.Join(arguments, " "))
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = p.dir
	command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	command.Env = append(command.Env, variables...)
	var faults strings.Builder
	command.Stderr = &faults
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", name, err, printed, &faults)
	}
	return string(printed), nil
}

// try runs the programs on the document that is served at an address, and takes the walk there.
func (p tools) try(ctx context.Context, root, address string) error {
	if err := p.fetch(ctx, address+"/api/openapi.json"); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"spectral", "lint", "--fail-severity=hint", "openapi.json"},
		// A login by a provider leads the browser on with 302, and has no answer of 2xx.
		{"redocly", "lint", "--extends=recommended-strict", "--skip-rule=operation-2xx-response", "openapi.json"},
		{"openapi-typescript", "openapi.json", "--output", "api.ts"},
		{"tsc", "--project", "."},
	} {
		program := filepath.Join(p.dir, "node_modules", ".bin", command[0])
		if err := p.command(ctx, program, command[1:]...); err != nil {
			return err
		}
	}
	variables := []string{"BELFRY=" + address}
	page, err := os.ReadFile(filepath.Join(root, "docs", "tutorial.md"))
	for _, user := range []string{"TEACHER", "SCRIPT"} {
		variables = append(variables, string(regexp.MustCompile(`(?m)^`+user+`=\S+$`).Find(page)))
	}
	want, missing := os.ReadFile(filepath.Join(root, filepath.FromSlash(prints)))
	if err := errors.Join(err, missing); err != nil {
		return err
	}
	printed, err := p.output(ctx, variables, "node", "walk.js")
	if err == nil && printed != string(want) {
		err = fmt.Errorf("the walk prints\n%s\nwant\n%s", printed, want)
	}
	return err
}

// fetch writes the document at an address to openapi.json.
func (p tools) fetch(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, answer.Status)
	}
	return os.WriteFile(filepath.Join(p.dir, "openapi.json"), text, 0o600)
}
