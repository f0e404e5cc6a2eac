package stores

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Where Debian keeps what aptMirror reads.
const (
	aptFolder = "/etc/apt"
	osRelease = "/etc/os-release"
)

// aptMirror returns the address from which this machine installs Debian: the first web address in its apt sources
// with the component main of the installed release. So no host is named here, and the machine's own mirror is used.
func aptMirror(apt, release string) (string, error) {
	codename, err := codename(release)
	if err != nil {
		return "", err
	}
	oneLine, err := filepath.Glob(filepath.Join(apt, "sources.list.d", "*.list"))
	if err != nil {
		return "", err
	}
	stanzas, err := filepath.Glob(filepath.Join(apt, "sources.list.d", "*.sources"))
	if err != nil {
		return "", err
	}
	var sources []source
	for _, path := range append([]string{filepath.Join(apt, "sources.list")}, oneLine...) {
		if text, err := os.ReadFile(path); err == nil {
			sources = append(sources, oneLineSources(string(text))...)
		}
	}
	for _, path := range stanzas {
		if text, err := os.ReadFile(path); err == nil {
			sources = append(sources, stanzaSources(string(text))...)
		}
	}
	for _, s := range sources {
		if !slices.Contains(s.suites, codename) || !slices.Contains(s.components, "main") {
			continue
		}
		for _, address := range s.addresses {
			if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
				return address, nil
			}
		}
	}
	return "", fmt.Errorf("%s names no web address for Debian %s, so the stores' programs cannot be had; %w", apt,
		codename, errElsewhere)
}

// errElsewhere says what to do where the programs cannot be installed.
var errElsewhere = errors.New("put mongod and redis-server on the PATH, or set MONGODB_URI and REDIS_URL")

// source is one entry of apt's sources.
type source struct{ addresses, suites, components []string }

// oneLineSources parses the format of sources.list: deb [options] address suite component...
func oneLineSources(text string) []source {
	var sources []source
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if before, rest, found := strings.Cut(line, "["); found {
			_, after, _ := strings.Cut(rest, "]")
			line = before + " " + after
		}
		if fields := strings.Fields(line); len(fields) > 3 && fields[0] == "deb" {
			sources = append(sources, source{fields[1:2], fields[2:3], fields[3:]})
		}
	}
	return sources
}

// stanzaSources parses the format of .sources files: stanzas of "Field: words", with a blank line between two.
func stanzaSources(text string) []source {
	var sources []source
	fields, last := map[string][]string{}, ""
	finish := func() {
		if slices.Contains(fields["types"], "deb") && !slices.Equal(fields["enabled"], []string{"no"}) {
			sources = append(sources, source{fields["uris"], fields["suites"], fields["components"]})
		}
		fields, last = map[string][]string{}, ""
	}
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			finish()
		case line[0] == ' ' || line[0] == '\t': // the field continues
			fields[last] = append(fields[last], strings.Fields(line)...)
		default:
			name, words, _ := strings.Cut(line, ":")
			last = strings.ToLower(name)
			fields[last] = strings.Fields(words)
		}
	}
	finish()
	return sources
}

func codename(release string) (string, error) {
	text, err := os.ReadFile(release)
	if err != nil {
		return "", fmt.Errorf("finding out which Debian this is: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); ok {
			return strings.Trim(name, `"`), nil
		}
	}
	return "", fmt.Errorf("this is no Debian release (%s has no VERSION_CODENAME); %w", release, errElsewhere)
}
