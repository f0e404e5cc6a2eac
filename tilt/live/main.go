// Command live lets Tilt put a newer program into a running container whose image holds only the program and this
// command. It has three parts:
//
//	live run [-dir DIR] [-ready URL] PROGRAM [ARGUMENT...]
//
// is the container's first process. It runs the newer program of that name in DIR, or PROGRAM itself when there is
// none, and forwards SIGTERM. When the program exits, the container ends with its exit code, as without live.
//
//	live restart [-dir DIR]
//
// stops the program and starts the one in DIR. It returns when URL answers with 200, and fails when the program
// ends first or takes longer than 30 s. A program that failed is not started again: the container waits for the
// next restart, which comes with the next edit.
//
//	tar -C DIR -x -f -
//
// is live under another name: the command by which Tilt copies files into a container. Each file is written
// atomically.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// exitUsage is the exit code of wrong arguments.
const exitUsage = 64

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, filepath.Base(os.Args[0]), os.Args[1:], os.Stdin)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, name string, args []string, in io.Reader) (code int, err error) {
	if name == "tar" {
		if len(args) != 5 || args[0] != "-C" || args[2] != "-x" || args[3] != "-f" || args[4] != "-" {
			return exitUsage, fmt.Errorf("tar %q: only tar -C DIR -x -f - is known", args)
		}
		return exitOf(unpack(args[1], in))
	}
	if len(args) == 0 {
		return exitUsage, errors.New("run or restart is needed")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	dir := flags.String("dir", "/newer", "`folder` of the newer program, which may be written to")
	ready := flags.String("ready", "http://127.0.0.1:9090/readyz", "`URL` that answers 200 when the program serves")
	if err := flags.Parse(args[1:]); err != nil {
		return exitUsage, err
	}
	switch {
	case args[0] == "run" && flags.NArg() > 0:
		s := &supervisor{dir: *dir, ready: *ready, program: flags.Arg(0), arguments: flags.Args()[1:],
			patience: 30 * time.Second}
		return s.run(ctx)
	case args[0] == "restart" && flags.NArg() == 0:
		return exitOf(askRestart(ctx, *dir))
	}
	return exitUsage, fmt.Errorf("wrongly asked: %q", args)
}

func exitOf(err error) (int, error) {
	if err != nil {
		return 1, err
	}
	return 0, nil
}
