package stores

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestGivenAddressThatCannotBeUsed(t *testing.T) {
	closed := net.JoinHostPort("127.0.0.1", strconv.Itoa(unused(t)))
	for name, c := range map[string]struct{ variable, address, want string }{
		"MongoDB does not answer": {"MONGODB_URI", "mongodb://belfry:hunter2@" + closed + "/?authSource=hunter2",
			"no database server answers"},
		"MongoDB of another scheme": {"MONGODB_URI", "postgres://belfry:hunter2@" + closed + "/", "MONGODB_URI"},
		"MongoDB with a bad escape": {"MONGODB_URI", "mongodb://belfry:hunter2%zz@" + closed + "/", "MONGODB_URI"},
		"Redis does not answer":     {"REDIS_URL", "redis://belfry:hunter2@" + closed + "/0", "no answer"},
		"Redis with a bad port":     {"REDIS_URL", "redis://belfry:hunter2@127.0.0.1:port/0", "REDIS_URL"},
		"Redis without a scheme":    {"REDIS_URL", "belfry:hunter2@" + closed, "REDIS_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			o := ground(t)
			t.Setenv(c.variable, c.address)
			_, err := Start(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.variable) {
				t.Fatalf("the error is %v, want one that names %s and says %q", err, c.variable, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "belfry:") {
				t.Errorf("the error shows user or password: %v", err)
			}
			errortest.Is(t, errortest.Of(os.Stat(o.Dir)), os.ErrNotExist, "the folder of the stores was made")
		})
	}
}

// unused is a port that nothing listens on.
func unused(t *testing.T) int {
	t.Helper()
	for port := lastPort; port < lastPort+700; port++ {
		if listenable(port) == nil {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// TestRunsThatStartAtOnceChooseOtherPorts: none of them listens yet when the others choose.
func TestRunsThatStartAtOnceChooseOtherPorts(t *testing.T) {
	t.Setenv("STORES_REDIS_PORT", "")
	chosen := map[int]bool{}
	for range 5 {
		port, err := site{dir: t.TempDir()}.port("STORES_REDIS_PORT")
		errortest.None(t, err)
		chosen[port] = true
	}
	if len(chosen) < 4 { // two of them may by chance
		t.Errorf("five runs chose %v", chosen)
	}
}

func TestPort(t *testing.T) {
	at := site{dir: t.TempDir()}
	t.Setenv("STORES_REDIS_PORT", "")
	t.Setenv("STORES_MONGO_PORT", "")
	redisPort, err := at.port("STORES_REDIS_PORT")
	errortest.None(t, err)
	mongoPort, err := at.port("STORES_MONGO_PORT")
	errortest.None(t, err)
	valuetest.Holds(t, redisPort != mongoPort, "both stores are given port %d", redisPort)
	if again, err := at.port("STORES_REDIS_PORT"); again != redisPort || err != nil {
		t.Errorf("the next run gets port %d (%v), want %d as before", again, err, redisPort)
	}
	other, err := net.Listen("tcp", local(redisPort))
	errortest.None(t, err)
	defer other.Close() //nolint:errcheck // the test is over
	if moved, err := at.port("STORES_REDIS_PORT"); moved == redisPort || err != nil {
		t.Errorf("with port %d taken by another the run gets %d (%v), want a free one", redisPort, moved, err)
	}
	t.Setenv("STORES_REDIS_PORT", strconv.Itoa(redisPort))
	errortest.Says(t, errortest.Of(at.port("STORES_REDIS_PORT")), "STORES_REDIS_PORT", "a fixed port that is taken")
	errortest.None(t, os.WriteFile(filepath.Join(at.dir, "ports.json"), []byte(`{"STORES_MONGO`), 0o644))
	errortest.Report(t, errortest.Of(at.port("STORES_MONGO_PORT")), "after half a file of ports")
}

func TestAptMirror(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"sources.list": {
			map[string]string{"sources.list": "# deb http://commented.test/debian bookworm main\n" +
				"deb http://security.test/debian-security bookworm-security main\n" +
				"deb-src http://source.test/debian bookworm main\n" +
				"deb [arch=amd64 signed-by=/a/b.gpg] http://mirror.test/debian bookworm main contrib # ours\n"},
			"http://mirror.test/debian/",
		},
		"a .list beside others'": {
			map[string]string{
				"sources.list.d/cloud.list":  "deb https://packages.test/apt cloud-sdk-bookworm main\n",
				"sources.list.d/debian.list": "deb https://mirror.test/debian/ bookworm main\n",
				"sources.list.d/x.list.save": "deb http://old.test/debian bookworm main\n",
			},
			"https://mirror.test/debian/",
		},
		"a .sources file": {
			map[string]string{"sources.list.d/debian.sources": "Types: deb\n# http://snapshot.test/\n" +
				"URIs: http://security.test/debian-security\nSuites: bookworm-security\nComponents: main\n\n" +
				"Enabled: no\nTypes: deb\nURIs: http://disabled.test/debian\nSuites: bookworm\nComponents: main\n\n" +
				"Types: deb deb-src\nURIs: cdrom:[disc]/\n http://mirror.test/debian\n" +
				"Suites: bookworm bookworm-updates\nComponents: main\n" +
				"Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"},
			"http://mirror.test/debian/",
		},
		"none": {map[string]string{"sources.list": "deb cdrom:[disc]/ bookworm main\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			apt := t.TempDir()
			errortest.None(t, os.Mkdir(filepath.Join(apt, "sources.list.d"), 0o755))
			for path, text := range c.files {
				errortest.None(t, os.WriteFile(filepath.Join(apt, path), []byte(text), 0o644))
			}
			release := filepath.Join(apt, "os-release")
			errortest.None(t, os.WriteFile(release, []byte("ID=debian\nVERSION_CODENAME=bookworm\n"), 0o644))
			got, err := aptMirror(release, "-o", "Dir::Etc="+apt, "-o", "Dir::State::lists="+t.TempDir())
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("the mirror is %q (%v), want %q", got, err, c.want)
			}
			if c.want == "" && (err == nil || !strings.Contains(err.Error(), "MONGODB_URI")) {
				t.Errorf("the error is %v, want one that says what to do instead", err)
			}
		})
	}
}

func TestNeedSpaceSaysHowMuch(t *testing.T) {
	dir := t.TempDir()
	errortest.Report(t, needSpace(dir, 1), "one byte")
	err := needSpace(dir, 1<<62)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("the error is %v, want one with the folder and the numbers", err)
	}
}

func TestEngineHashFollowsTheSources(t *testing.T) {
	source := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		errortest.None(t, os.WriteFile(filepath.Join(source, name), []byte(text), 0o644))
	}
	hash := func() string {
		t.Helper()
		sum, err := engineHash(source)
		errortest.None(t, err)
		return sum
	}
	write("main.go", "package main")
	write("go.mod", "module engine")
	write("go.sum", "")
	first := hash()
	write("main_test.go", "package main")
	valuetest.Same(t, hash(), first, "a test changed the hash, want the same engine")
	write("go.sum", "a module h1:")
	valuetest.Holds(t, hash() != first, "another dependency left the hash as it was, want another engine")
}

// A backend of a PostgreSQL that was killed went on for more than a minute, and no other could start.
func TestWhatAKilledPostgresHasLeftIsEnded(t *testing.T) {
	data := t.TempDir()
	backend, other := exec.Command("sleep", "600"), exec.Command("sleep", "600")
	backend.Dir, other.Dir = data, filepath.Dir(data)
	for _, command := range []*exec.Cmd{backend, other} {
		errortest.None(t, command.Start())
	}
	endBackends(data)
	if err := backend.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the backend ended with %v", err)
	}
	errortest.Report(t, other.Process.Signal(syscall.Signal(0)), "a process of another folder")
	_ = other.Process.Kill()
	_ = other.Wait() // it was killed
}
