package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// source is what the images are built from.
type source struct {
	revision string    // the commit, with "-dirty" after it when files differ from it
	version  string    // the tag, or what git describes the commit by
	created  time.Time // of the commit, so that builds are equal
}

// describe reads the state of a checkout from git. A version that is given is kept.
func describe(ctx context.Context, checkout, version string) (source, error) {
	git := func(args ...string) (string, error) {
		said, err := output(ctx, checkout, "git", args...)
		if err != nil {
			return "", fmt.Errorf("images carry the commit they are made from, and git fails in %s: %w", checkout, err)
		}
		return strings.TrimSpace(said), nil
	}
	shown, err := git("show", "--no-patch", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	commit, seconds, _ := strings.Cut(shown, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("the time of commit %s: %w", commit, err)
	}
	changes, err := git("status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	s := source{revision: commit, version: version, created: time.Unix(unix, 0).UTC()}
	if changes != "" {
		s.revision += "-dirty"
	}
	if s.version == "" {
		// A fixed length: git's own choice grows with the repository.
		described, err := git("describe", "--tags", "--always", "--abbrev=12", "--dirty")
		if err != nil {
			return source{}, err
		}
		s.version = strings.TrimPrefix(described, "v")
	}
	return s, nil
}
