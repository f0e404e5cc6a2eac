package frontdoor

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

const chooser = "BELFRY_TEST_CHOOSES_ADDRESS"

// A test of another package chose the addresses of a service that had not begun to listen, and the service ended.
func TestAddresses_AreNoOtherProcesssWhileNothingListens(t *testing.T) {
	if os.Getenv(chooser) != "" {
		addresses, err := Addresses(1)
		fmt.Println(addresses, err)
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the other process has looked
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), chooser+"=1")
	in, err := child.StdinPipe()
	errortest.None(t, err)
	out, err := child.StdoutPipe()
	errortest.None(t, err)
	errortest.None(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	errortest.None(t, err)
	address, ok := strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(line), "["), "] <nil>")
	_, text, err := net.SplitHostPort(address)
	if !ok || err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	port, err := strconv.Atoi(text)
	errortest.None(t, err)
	if free, err := claim(port, address); err != nil || free {
		t.Errorf("the port that another process chose is free: %t, %v", free, err)
	}
	errortest.None(t, in.Close())
	errortest.None(t, child.Wait())
	// a test of another package may hold the port while it checks it
	timetest.Eventually(t, "the port of a process that has ended is free", time.Minute, func() bool {
		free, err := claim(port, address)
		errortest.None(t, err)
		return free
	})
}
