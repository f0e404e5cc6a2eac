package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
)

// contexts are the tokens that login has kept, one for each address, in a file that only its owner may read.
type contexts struct {
	Current string        `json:"current"` // the address that commands call unless told otherwise; "": none
	Kept    []keptContext `json:"contexts"`
}

type keptContext struct {
	URL    string `json:"url"`
	Token  string `json:"token"`
	ID     int64  `json:"token_id"`
	EndsAt string `json:"ends_at"`
}

// contextsFile is where the contexts are: by the XDG convention.
func contextsFile(env func(string) string) (string, error) {
	folder := env("XDG_CONFIG_HOME")
	if folder == "" && env("HOME") != "" {
		folder = filepath.Join(env("HOME"), ".config")
	}
	if folder == "" {
		return "", errors.New("there is no folder for settings: set HOME or XDG_CONFIG_HOME")
	}
	return filepath.Join(folder, "belfry", "contexts.json"), nil
}

// readContexts returns none when there is no file.
func readContexts(env func(string) string) (all contexts, err error) {
	path, err := contextsFile(env)
	if err != nil {
		return all, nil //nolint:nilerr // without a folder nothing was ever kept
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return all, fmt.Errorf("reading the contexts: %w", err)
	}
	if json.Unmarshal(text, &all) != nil { // its error could show a part of a token
		return contexts{}, fmt.Errorf("reading the contexts: %s is not as belfryctl wrote it", path)
	}
	return all, nil
}

func (c contexts) write(env func(string) string) error {
	path, err := contextsFile(env)
	if err != nil {
		return err
	}
	const ownersAlone = 0o700
	if err := os.MkdirAll(filepath.Dir(path), ownersAlone); err != nil {
		return err
	}
	return wholefile.WriteJSON(path, c)
}

// of returns what is kept for an address, the zero value when nothing is.
func (c contexts) of(url string) keptContext {
	if i := c.index(url); i >= 0 {
		return c.Kept[i]
	}
	return keptContext{}
}

func (c contexts) index(url string) int {
	return slices.IndexFunc(c.Kept, func(k keptContext) bool { return k.URL == withoutSlash(url) })
}

// withoutSlash is how contexts spell an address: with a slash at its end it is the same one.
func withoutSlash(url string) string { return strings.TrimRight(url, "/") }

// put keeps a context in place of that of the same address, and makes it the current one.
func (c *contexts) put(k keptContext) {
	k.URL = withoutSlash(k.URL)
	c.remove(k.URL)
	c.Kept, c.Current = append(c.Kept, k), k.URL
}

// remove forgets the context of an address.
func (c *contexts) remove(url string) {
	if i := c.index(url); i >= 0 {
		c.Kept = slices.Delete(c.Kept, i, i+1)
	}
	if c.Current == withoutSlash(url) {
		c.Current = ""
	}
}
