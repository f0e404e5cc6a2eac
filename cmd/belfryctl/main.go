// Command belfryctl is the operators' command of Belfry. See docs/belfryctl.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends it at once
	code := run(ctx, os.Args[1:], surroundings{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	stop()
	os.Exit(code)
}

// Exit codes; docs/belfryctl.md promises them.
const (
	exitOK      = 0
	exitFailure = 1 // the work failed
	exitUsage   = 2 // the arguments or the environment are invalid
	exitFaults  = 3 // the bundle or roster has faults; nothing was written
	exitRefused = 4 // the services refused some records; the others are written
)

// surroundings are the inputs and outputs of a command besides files and the network.
type surroundings struct {
	in       io.Reader // of mcp alone
	out, err io.Writer
	env      func(name string) string
	wait     time.Duration // the client's first pause before trying again, its default when 0
	sessions *sessions     // set by run
}

// failure is an error of a command that was called correctly; every other error is one of usage.
type failure struct {
	error
	code int
}

func (f *failure) Unwrap() error { return f.error }

// partly is the error of a command that did a part of its work; the rest was refused.
func partly(text string) error { return &failure{errors.New(text), exitRefused} }

// resumed are the commands that, interrupted and run again, end as if they had not been interrupted.
var resumed = []string{"import", "export", "people erase", "people leavers", "commitments decide", "clashes"}

// run runs the command that the arguments name and returns its exit code.
func run(ctx context.Context, args []string, s surroundings) int {
	s.sessions = &sessions{}
	defer s.sessions.end(ctx)
	root := rootCommand(s)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil {
		text := "interrupted"
		if slices.Contains(resumed, strings.TrimPrefix(command.CommandPath(), "belfryctl ")) {
			text += "; run the same command again to continue"
		}
		fmt.Fprintln(s.err, "belfryctl: "+text)
		if !errors.Is(err, context.Canceled) { // such as an exchange that could not be undone
			fmt.Fprintf(s.err, "belfryctl: %v\n", err)
		}
		return exitFailure
	}
	fmt.Fprintf(s.err, "belfryctl: %v\n", err)
	if failed, ok := errors.AsType[*failure](err); ok {
		return failed.code
	}
	fmt.Fprintf(s.err, "See %s --help.\n", command.CommandPath())
	return exitUsage
}

// rootCommand returns the tree of all commands, from which help, completion and manual pages are made.
func rootCommand(s surroundings) *cobra.Command {
	root := &cobra.Command{
		Use:   "belfryctl",
		Short: "Set up and run a school in Belfry",
		Long: `belfryctl sets up and runs a school in Belfry through its public API.

Exit codes: 0 done, 1 failed, 2 wrong command line, 3 the bundle or roster has faults, 4 some
records were refused.`,
		SilenceErrors:     true,
		DisableAutoGenTag: true, // manual pages are the same each day
		SilenceUsage:      true,
	}
	root.AddCommand(importCommand(s), exportCommand(s), templateCommand(s), untisCommand(s), usersCommand(s),
		elementsCommand(s), membersCommand(s), administratorsCommand(s), categoriesCommand(s), sessionsCommand(s),
		auditCommand(s), accessCommand(s), peopleCommand(s), commitmentsCommand(s), clashesCommand(s), demoCommand(s),
		dayCommand(s), weekCommand(s), freeCommand(s), findCommand(s), bookCommand(s), moveCommand(s), swapCommand(s),
		cancelCommand(s), noteCommand(s), seriesCommand(s), feedCommand(s), followCommand(s), whoamiCommand(s),
		loginCommand(s), logoutCommand(s), contextCommand(s),
		webhooksCommand(s), checkCommand(s), mcpCommand(s), manCommand(s), versionCommand(s))
	root.SetOut(s.out)
	root.SetErr(s.err)
	countArguments(root)
	return root
}

// countArguments makes each command take as many arguments as its usage names, unless it says otherwise: those in
// brackets may be left out, and the last may be repeated if it ends with an ellipsis.
func countArguments(of *cobra.Command) {
	for _, command := range of.Commands() {
		countArguments(command)
		if command.Args != nil {
			continue
		}
		usage, _, _ := strings.Cut(command.Use, " --")
		most, optional := strings.Count(usage, " "), strings.Count(usage, "[")
		switch {
		case most == 0:
			command.Args = cobra.NoArgs
		case strings.HasSuffix(usage, "…"):
			command.Args = cobra.MinimumNArgs(most)
		case optional == most:
			command.Args = cobra.MaximumNArgs(most)
		case optional == 0:
			command.Args = cobra.ExactArgs(most)
		default:
			command.Args = cobra.RangeArgs(most-optional, most)
		}
	}
}

// does returns the RunE of a command: an error of work is a failure, unless it is a usageError.
func does(work func(command *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		err := work(command, args)
		var failed *failure
		switch {
		case err == nil, errors.As(err, new(*usageError)):
			return err
		case errors.As(err, new(*csvfile.FaultsError)):
			return &failure{err, exitFaults}
		case errors.As(err, &failed):
			return &failure{err, failed.code}
		}
		return &failure{err, exitFailure}
	}
}

// usageError is a fault of the arguments or the environment.
type usageError struct{ error }

// number writes 56933 as 56,933.
func number(n int) string { return message.NewPrinter(language.BritishEnglish).Sprintf("%d", n) }
