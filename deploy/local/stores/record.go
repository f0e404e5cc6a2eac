package stores

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
)

// record is the file running.json, which is in the folder of the stores while they run. Package storetest reads it.
type record struct {
	MongoURI string `json:"mongodb_uri"`
	RedisURL string `json:"redis_url"`
	Keeper   int    `json:"keeper"` // the process that keeps the stores running
}

const recordFile = "running.json"

// errNotRunning says that no stores run in a folder.
var errNotRunning = errors.New("the stores do not run")

// readRecord returns the record of the stores that run in dir, or errNotRunning. It ignores a record that a killed
// keeper left: until a new one has entered itself as the holder of the lock, the old one is named there.
func readRecord(dir string) (record, error) {
	var rec record
	err := wholefile.ReadJSON(filepath.Join(dir, recordFile), &rec)
	if errors.Is(err, fs.ErrNotExist) {
		return rec, errNotRunning
	}
	pid, held := holder(dir)
	if err == nil && (!held || pid != rec.Keeper || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)) {
		return rec, errNotRunning
	}
	return rec, err
}

func writeRecord(dir string, rec record) error {
	return wholefile.WriteJSON(filepath.Join(dir, recordFile), rec)
}

func removeRecord(dir string) error {
	if err := os.Remove(filepath.Join(dir, recordFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Ports are chosen below the kernel's range for outgoing connections: while a store restarts, a client's connection
// must not take the store's port.
const firstPort, lastPort = 20000, 32000

// place returns the port and the folder of a store's data, which it makes.
func (at site) place(variable, name string) (port int, folder string, err error) {
	if port, err = at.port(variable); err != nil {
		return 0, "", err
	}
	folder = filepath.Join(at.dir, name)
	return port, folder, os.MkdirAll(folder, 0o700)
}

// port returns the port to listen on: the one in the environment variable, else the one of the last run if it is
// free, else a free one, which is stored for the next run.
func (at site) port(variable string) (int, error) {
	if fixed := os.Getenv(variable); fixed != "" {
		port, err := strconv.Atoi(fixed)
		if err != nil {
			return 0, errors.New(variable + ": not a port number")
		}
		if err := listenable(port); err != nil {
			return 0, errors.New(variable + ": " + err.Error())
		}
		return port, nil
	}
	path := filepath.Join(at.dir, "ports.json")
	ports := map[string]int{}
	if err := wholefile.ReadJSON(path, &ports); err != nil && !errors.Is(err, fs.ErrNotExist) {
		ports = map[string]int{} // the file is incomplete after a crash: choose again
	}
	if last, ok := ports[variable]; ok && listenable(last) == nil {
		return last, nil
	}
	taken := map[int]bool{}
	for _, port := range ports {
		taken[port] = true
	}
	// Runs that start at once have process ids side by side, and listen only later: what each chooses is random, so
	// that they don't choose the same.
	const span = lastPort - firstPort
	start := rand.IntN(span)
	for i := range span {
		port := firstPort + (start+i)%span
		if !taken[port] && listenable(port) == nil {
			ports[variable] = port
			return port, wholefile.WriteJSON(path, ports)
		}
	}
	return 0, errors.New("no free port on 127.0.0.1")
}

func listenable(port int) error {
	l, err := net.Listen("tcp", local(port))
	if err != nil {
		return err
	}
	return l.Close()
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
