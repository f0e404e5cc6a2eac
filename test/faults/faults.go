package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/process"
)

// fault is something that goes wrong. begin makes it happen and returns the function that ends it; nil when it ends by
// itself.
type fault struct {
	name  string
	begin func() (mend func() error, err error)
}

// faults returns one of each kind, with what the dice say of each.
func (t *trial) faults() []fault {
	service := func() string { return names.WithData()[t.dice.IntN(len(names.WithData()))] }
	all := []fault{
		t.kill(service(), false), t.kill(service(), true), t.kill("front door", true), t.kill("Redis", true),
		t.pause(service()), t.pause("front door"), t.pause("Redis"), t.setBack(), t.setBack(),
	}
	wired := []string{"Redis", service()}
	if !t.replicaSet {
		wired = append(wired, "the document store")
		for _, part := range []string{"engine", "database", "mongod"} {
			if pids, err := processesOf(part); err == nil && len(pids) > 0 {
				all = append(all, t.kill(part, false), t.pause(part))
			}
		}
	}
	for _, wire := range wired {
		all = append(all, t.cut(wire),
			t.poisoned("slow: ", wire, "latency", map[string]int{"latency": 100 + t.dice.IntN(400), "jitter": 100}),
			t.poisoned("silent: ", wire, "timeout", map[string]int{"timeout": 0}))
	}
	return all
}

// kill kills one process of a part, or all of them. Of the database it is the oldest process, which the others of it
// follow.
func (t *trial) kill(part string, all bool) fault {
	name, place := "killed: "+part, t.dice.IntN(64)
	if all {
		name = "killed, all of it: " + part
	}
	return fault{name, func() (func() error, error) {
		pids, err := processesOf(part)
		switch {
		case err != nil:
			return nil, err
		case len(pids) == 0:
			return nil, nil //nolint:nilnil // it has just been killed, by the fault before
		case part == "database":
			pids = pids[:1]
		case !all:
			pids = pids[place%len(pids):][:1]
		}
		return nil, sendTo(pids, syscall.SIGKILL)
	}}
}

// pause stops all processes of a part for a while.
func (t *trial) pause(part string) fault {
	return fault{"paused: " + part, func() (func() error, error) {
		pids, err := processesOf(part)
		if err != nil {
			return nil, err
		}
		return func() error { return sendTo(pids, syscall.SIGCONT) }, sendTo(pids, syscall.SIGSTOP)
	}}
}

func (t *trial) cut(wire string) fault {
	return fault{"cut off: " + wire, func() (func() error, error) {
		t.wires[wire].Cut()
		return t.wires[wire].Mend, nil
	}}
}

func (t *trial) poisoned(name, wire, toxic string, attributes map[string]int) fault {
	return fault{name + wire, func() (func() error, error) {
		return t.wires[wire].Mend, t.wires[wire].Poison(toxic, attributes)
	}}
}

// setBack gives Redis the data that it had some seconds before. The data's folder is exchanged under the running
// process, which is then killed, so that the next one begins with the older data.
func (t *trial) setBack() fault {
	return fault{"set back: Redis", func() (func() error, error) {
		data := filepath.Join(t.dir, "stores", "redis", "appendonlydir")
		older := data + ".older"
		if err := os.RemoveAll(older); err != nil {
			return nil, err
		}
		// Redis reads a file that ends in the middle of a command up to there
		copying := exec.Command("cp", "-a", data, older)
		if printed, err := copying.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cp: %w: %s", err, printed)
		}
		return func() error {
			pids, err := processesOf("Redis")
			if err != nil {
				return err
			}
			newer := fmt.Sprintf("%s.%d", data, time.Now().UnixNano())
			return errors.Join(os.Rename(data, newer), os.Rename(older, data), sendTo(pids, syscall.SIGKILL),
				os.RemoveAll(newer))
		}, nil
	}}
}

// stepDown steps the primary of a replica set down from time to time, until ctx ends.
func (t *trial) stepDown(ctx context.Context) {
	for background.Pause(ctx, stepDownEvery); ctx.Err() == nil; background.Pause(ctx, stepDownEvery) {
		t.steppedDown(t.client.Database("admin").RunCommand(context.WithoutCancel(ctx),
			bson.D{{Key: "replSetStepDown", Value: 15}}).Err())
	}
}

// steppedDown counts how often the primary stepped down. The connection may end with it, which is not a fault; refusing
// to do it is one, since the run then proves nothing about it.
func (t *trial) steppedDown(err error) {
	if err != nil && !mongostore.Unavailable(err) {
		t.complaints.add("the primary did not step down: %v", err)
		return
	}
	t.stepDowns++
	t.console.line("the primary was told to step down (%v)", err)
}

// programs are the names of the processes of each part, as the kernel has them.
var programs = map[string]string{
	"identity": "identity", "elements": "elements", "events": "events", "notes": "notes", "front door": "frontdoor",
	"engine": "engine-", "database": "postgres", "mongod": "mongod", "Redis": "redis-server",
}

// processesOf returns the processes of a part below this one, the oldest first: of PostgreSQL that is the postmaster.
func processesOf(part string) ([]int, error) {
	below, err := process.Below(os.Getpid())
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, stat := range below {
		if process.Named(stat, programs[part]) && stat.State != "Z" {
			pids = append(pids, stat.PID)
		}
	}
	return pids, nil
}

// sendTo sends a signal to processes; those that have ended meanwhile are left out.
func sendTo(pids []int, s syscall.Signal) error {
	var faults []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			faults = append(faults, fmt.Errorf("signal %d: %w", pid, err))
		}
	}
	return errors.Join(faults...)
}
