package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// previousCommit is the previous release, for clones without tags.
//
//go:embed previous.txt
var previousCommit string

// errNoOlder says that the previous release is not at hand, and why.
var errNoOlder = errors.New("the release before is not at hand")

// release is a state of Belfry whose services were built.
type release struct{ name, bin string }

// olderCommit returns the commit of a revision. "previous" is the newest tag of a release below the commit that is
// checked out, such as v1.0.0, or, where there is none, the commit that previous.txt names.
func olderCommit(ctx context.Context, root, revision string) (string, error) {
	if revision == "previous" {
		tag, err := git(ctx, root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*.[0-9]*.[0-9]*", "HEAD^")
		if revision = tag; err != nil {
			revision = strings.TrimSpace(previousCommit)
		}
	}
	commit, err := git(ctx, root, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w: this checkout does not have %s; is it a shallow clone, or not one of git's?",
			errNoOlder, revision)
	}
	return commit, nil
}

func git(ctx context.Context, root string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir = root
	printed, err := command.Output()
	return strings.TrimSpace(string(printed)), err
}

// buildCommit builds packages of a commit from a copy of its files below dir.
func buildCommit(ctx context.Context, root, commit, dir string, packages []string) (release, error) {
	source := filepath.Join(dir, "source")
	if err := os.MkdirAll(source, 0o755); err != nil {
		return release{}, err
	}
	archive := filepath.Join(dir, "source.tar")
	if _, err := git(ctx, root, "archive", "--output="+archive, commit); err != nil {
		return release{}, fmt.Errorf("git archive: %w", err)
	}
	if printed, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", source).CombinedOutput(); err != nil {
		return release{}, fmt.Errorf("tar: %w: %s", err, printed)
	}
	r := release{name: "older", bin: filepath.Join(dir, "bin")}
	if err := checkout.BuildIn(ctx, source, r.bin+string(filepath.Separator), packages...); err != nil {
		return r, fmt.Errorf("the release before: %w", err)
	}
	return r, nil
}
