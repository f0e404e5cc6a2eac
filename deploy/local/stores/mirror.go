package stores

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// osRelease says which Debian this is.
const osRelease = "/etc/os-release"

// aptMirror returns the address from which this machine installs Debian: the first web address in its apt sources
// with the component main of the installed release. So no host is named here, and the machine's own mirror is used.
// options are apt's.
func aptMirror(release string, options ...string) (string, error) {
	codename, err := codename(release)
	if err != nil {
		return "", err
	}
	listed, err := exec.Command("apt-get", append(options, "indextargets", "--no-release-info", "--format",
		"$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages")...).Output()
	if err != nil {
		return "", fmt.Errorf("asking apt for its sources: %w; %w", err, errElsewhere)
	}
	for line := range strings.Lines(string(listed)) {
		address, found := strings.CutPrefix(strings.TrimSpace(line), codename+" main ")
		if found && (strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")) {
			return address, nil
		}
	}
	return "", fmt.Errorf("apt has no web address for Debian %s, so the stores' programs cannot be had; %w", codename,
		errElsewhere)
}

// errElsewhere says what to do where the programs cannot be installed.
var errElsewhere = errors.New("put mongod and redis-server on the PATH, or set MONGODB_URI and REDIS_URL")

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
