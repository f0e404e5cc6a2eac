package endtoend_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// unprivileged is the user of Debian without any rights.
const unprivileged = 65534

func TestAFaultAtStartIsReportedAndNothingIsLeft(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	defer func() { _ = taken.Close() }()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	errortest.None(t, err)
	for _, c := range []struct {
		name      string
		variables []string
		want      []string // all of these are in the output
		never     string   // this is not in it
	}{
		{"a taken port", []string{"PORT=" + port}, []string{"PORT", "address already in use"}, ""},
		{"a port that is none", []string{"PORT=eighty"}, []string{"PORT: not a valid uint16: port of the"}, ""},
		{"an unknown zone", []string{"BELFRY_TIMEZONE=Europe/Londn"}, []string{"BELFRY_TIMEZONE"}, ""},
		{"a school of no one", []string{"DEMO_PUPILS=0"}, []string{"DEMO_PUPILS", "10 to 20,000 pupils"}, ""},
		{"too many replicas", []string{"REPLICAS=99"}, []string{"REPLICAS: must be 1 to 8"}, ""},
		{"MongoDB that is not there", []string{"MONGODB_URI=mongodb://belfry:hunter2@127.0.0.1:1/"},
			[]string{"MONGODB_URI"}, "hunter2"},
		{"a URI that is none", []string{"MONGODB_URI=belfry:hunter2@nowhere"}, []string{"MONGODB_URI"}, "hunter2"},
		{"Redis that is not there", []string{"REDIS_URL=redis://:hunter2@127.0.0.1:1/0"}, []string{"REDIS_URL"},
			"hunter2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			said := failing(t, newLocalCommand(t, dir, c.variables...))
			for _, want := range c.want {
				valuetest.Has(t, said, want, "it")
			}
			if c.never != "" && strings.Contains(said, c.never) {
				t.Errorf("it says %q:\n%s", c.never, said)
			}
			valuetest.Lacks(t, said, "goroutine ", "it shows a stack")
		})
	}
}

func TestWithoutRootItSaysWhatToProvide(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("takes root to become another user")
	}
	//nolint:usetesting // that user has to reach it, and t.TempDir is for its owner only
	dir, err := os.MkdirTemp("/tmp", "belfry")
	errortest.None(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	errortest.None(t, os.Chown(dir, unprivileged, unprivileged))
	command := newLocalCommand(t, filepath.Join(dir, "local"), "HOME="+dir,
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "PATH=/usr/bin:/bin")
	binary, err := os.ReadFile(command.Path)
	errortest.None(t, err)
	command.Path = filepath.Join(dir, "local-run")
	errortest.None(t, os.WriteFile(command.Path, binary, 0o755))
	// A checkout of its own: that of the tests may be in a folder that only root may enter.
	errortest.None(t, os.WriteFile(filepath.Join(dir, "go.work"), nil, 0o644))
	root, err := checkout.Root()
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "charts"), os.DirFS(filepath.Join(root, "charts")))
	}
	errortest.None(t, err)
	command.Dir = dir
	command.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	said := failing(t, command)
	if !strings.Contains(said, "MONGODB_URI") || !strings.Contains(said, "root") {
		t.Errorf("it does not say what to provide:\n%s", said)
	}
}

func TestAFullDiskIsReported(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("takes root to mount a small disk")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("this machine does not allow mounts: %v", err)
	}
	defer func() {
		errortest.Report(t, syscall.Unmount(dir, 0), "something still uses the disk")
	}()
	said := failing(t, newLocalCommand(t, dir))
	if !strings.Contains(said, "free and") || !strings.Contains(said, "are needed") {
		t.Errorf("it does not say that the disk is full:\n%s", said)
	}
}
