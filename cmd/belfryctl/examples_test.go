package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestMain makes the test's program belfryctl itself where it is called by that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "belfryctl" {
		main()
	}
	os.Exit(m.Run())
}

// notRun are the examples that are only read: they go to other addresses, do not end, or need files of a school that
// other tests import.
var notRun = regexp.MustCompile(
	`^belfryctl (check --|demo |follow$|mcp |untis |import (school/ --(url|dates)|school\.xlsx|--format)|` +
		`webhooks test|logout$|login --url)`)

// lastRun are the commands whose examples end what others need, in their order.
var lastRun = []string{"move", "cancel", "feed end", "webhooks remove", "administrators remove", "members end",
	"sessions end", "users end-sessions", "users new-uuid", "users deactivate", "people leavers", "people erase",
	"elements retire", "login", "context use", "context remove"}

// commands are those that do something, by their words.
func commands(of *cobra.Command, words []string, all map[string]*cobra.Command) {
	for _, c := range of.Commands() {
		here := append(words[:len(words):len(words)], c.Name())
		if c.HasSubCommands() {
			commands(c, here, all)
		} else {
			all[strings.Join(here, " ")] = c
		}
	}
}

func everyCommand() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	commands(rootCommand(surroundings{env: func(string) string { return "" }}), nil, all)
	return all
}

// TestDocs_CommandsAreThoseOfTheHelp compares docs/commands.md, or writes it with UPDATE=1.
func TestDocs_CommandsAreThoseOfTheHelp(t *testing.T) {
	t.Parallel()
	page := "# Commands of belfryctl\n\nFrom the commands' help, by `UPDATE=1 go test ./cmd/belfryctl -run Docs`. " +
		"[belfryctl.md](belfryctl.md) has what holds\nfor several.\n\n| command | does |\n|---|---|\n"
	all := everyCommand()
	for _, words := range slices.Sorted(maps.Keys(all)) {
		use := strings.TrimPrefix(strings.TrimSuffix(all[words].UseLine(), " [flags]"), "belfryctl ")
		page += fmt.Sprintf("| `%s` | %s |\n", strings.ReplaceAll(use, "|", `\|`), all[words].Short)
	}
	const path = "docs/commands.md"
	if os.Getenv("UPDATE") != "" {
		errortest.None(t, os.WriteFile(filepath.Join(checkout.Folder(t), path), []byte(page), 0o600))
	}
	valuetest.Same(t, checkout.Read(t, path), page, path)
}

// linesOf are the examples of a command, one a line.
func linesOf(c *cobra.Command) (lines []string) {
	for _, line := range strings.Split(strings.ReplaceAll(c.Example, "\\\n", ""), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestInterface_EachExampleOfTheHelpWorks gives each command's examples to a shell, with the real services.
func TestInterface_EachExampleOfTheHelpWorks(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	bin := t.TempDir()
	self, err := os.Executable()
	errortest.None(t, err)
	errortest.None(t, os.Symlink(self, filepath.Join(bin, "belfryctl")))
	token := exampleSchool(t, o)
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BELFRY_URL="+o.system.URL,
		"BELFRY_UUID="+o.system.AdminUUID, "HOME="+bin, "TOKEN="+token)

	all := everyCommand()
	var order []string
	for words := range all {
		if !slices.Contains(lastRun, words) {
			order = append(order, words)
		}
	}
	slices.Sort(order)
	ran := 0
	for _, words := range append(order, lastRun...) {
		valuetest.MustHold(t, all[words] != nil, "there is no command %q", words)
		dir := t.TempDir()
		if words == "import" {
			errortest.None(t, os.Rename(clienttest.Folder(t, small), filepath.Join(dir, "school")))
		}
		for _, line := range linesOf(all[words]) {
			if notRun.MatchString(line) {
				continue
			}
			command := exec.CommandContext(t.Context(), "bash", "-c", line)
			command.Dir, command.Env = dir, env
			out, err := command.CombinedOutput()
			errortest.Report(t, err, "%s\n%s", line, out)
			ran++
		}
	}
	valuetest.Holds(t, ran >= 80, "only %d examples were run", ran)
}

// exampleSchool makes what the examples name, and returns a token of changes.
func exampleSchool(t *testing.T, o office) string {
	t.Helper()
	users, events := "key,name,email,can_add_events\n", "key,body,category,starts_at,ends_at,elements\n"
	for i := range 14 {
		name := fmt.Sprintf("user%d", i)
		if i == 3 {
			name = "anna.bell"
		}
		users += fmt.Sprintf("%d,%s,%s@school.example,yes\n", i, name, name)
	}
	for i := range 20 {
		events += fmt.Sprintf("%d,Lesson %d,lesson,2026-09-%02d 09:00,2026-09-%02d 10:00,Staff:17\n", i, i, i+1, i+1)
	}
	o.does(t, "import", clienttest.Folder(t, map[string]string{
		"staff.csv":      "key,initials,forename,surname\n17,HGO,Hannah,Gordon\n18,ABE,Anna,Bell\n",
		"pupils.csv":     "key,forename,surname,tutor_group\n17,Kai,Butler,7A\n18,Ann,Cole,7A\n",
		"locations.csv":  "key,name\nG71,Room 71\n1,Great Hall\n2,Gym\n3,Music room\n",
		"properties.csv": "key,name\n1,Public calendar\n",
		"groups.csv":     "key,name,school\n9A,9A,\nschool,All,\nnorth,North,true\nsouth,South,true\n",
		"users.csv":      users,
		"eventcategories.csv": "key,name,busy\nfixture,Fixture,yes\nclub,Club,yes\nlesson,Lesson,yes\n" +
			"holiday,Holiday,\ntrip,Trip,yes\n",
		"events.csv": events + "open,Open day,fixture,2026-11-28 10:00,2026-11-28 12:00,\n",
	}))
	soon := time.Now().AddDate(0, 0, 7).Format(time.DateOnly)
	o.club(t, "House chess", soon+" 16:00", soon+" 16:45", "Great Hall")
	o.club(t, "Year 9 drama", soon+" 14:00", soon+" 14:45", "Great Hall")
	o.club(t, "Band practice", soon+" 14:00", soon+" 14:45", "Music room")
	o.does(t, "series", "make", "Junior choir", "--category", "Club", "--from", "2027-01-12 12:00", "--to",
		"2027-01-12 13:00", "--rule", "FREQ=WEEKLY;COUNT=8")
	admin := o.system.Admin(t)
	for range 3 {
		adds(t, admin, "webhook", object{"url": "https://receiver.invalid/"})
	}
	return admin.Get(t, "/api/changes").Must(t, http.StatusOK).Text(t, "next")
}

// TestInterface_EachCommandHasAnExampleThatItReads reads each example, in a shell that prints the arguments.
func TestInterface_EachCommandHasAnExampleThatItReads(t *testing.T) {
	t.Parallel()
	for words, c := range everyCommand() {
		if words == "help" {
			continue
		}
		lines := linesOf(c)
		if len(lines) == 0 && !strings.HasPrefix(words, "completion ") {
			t.Errorf("%s has no example", words)
		}
		for _, line := range lines {
			plain, _, _ := strings.Cut(line, " > ")
			out, err := exec.CommandContext(t.Context(), "bash", "-c",
				`belfryctl() { printf '%s\n' "$@"; }; `+plain).Output()
			errortest.None(t, err, line)
			root := rootCommand(surroundings{env: func(string) string { return "" }})
			found, args, err := root.Find(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"))
			if err == nil {
				err = found.ParseFlags(args)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil || found.CommandPath() != "belfryctl "+words {
				t.Errorf("%s: %s: %v", line, found.CommandPath(), err)
			}
		}
	}
}

// TestInterface_ManualPagesAndCompletionAreOfEachCommand: both come from the tree of commands.
func TestInterface_ManualPagesAndCompletionAreOfEachCommand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	office{}.does(t, "man", dir)
	for words := range everyCommand() {
		if words == "help" || strings.HasPrefix(words, "completion ") {
			continue
		}
		args := strings.Fields(words)
		text, err := os.ReadFile(filepath.Join(dir, "belfryctl-"+strings.Join(args, "-")+".1"))
		if err != nil || !strings.Contains(string(text), ".SH EXAMPLE") {
			t.Errorf("%s: %v in\n%s", words, err, text)
		}
		_, out, _ := belfryctl(t, nil, append(append([]string{"__complete"}, args[:len(args)-1]...), "")...)
		valuetest.Has(t, out, args[len(args)-1], "%s is not completed", words)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		valuetest.Has(t, office{}.does(t, "completion", shell), "belfryctl")
	}
	_, out, _ := belfryctl(t, nil, "__complete", "users", "add", "--grant", "")
	valuetest.Has(t, out, "edit_all_events", "permissions are not completed")
}

// TestEveryFieldHasAFlag: open_to of elements had none.
func TestEveryFieldHasAFlag(t *testing.T) {
	commands := everyCommand()
	for noun, fields := range map[string]any{"elements": api.ElementFields{}, "categories": api.CategoryFields{}} {
		for of := range reflect.TypeOf(fields).Fields() {
			name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
			if name == "type" || name == "entity_type" { // an argument
				continue
			}
			for _, verb := range []string{" add", " change"} {
				if commands[noun+verb].Flag(strings.ReplaceAll(name, "_", "-")) == nil {
					t.Errorf("%s has no flag for %s", noun+verb, name)
				}
			}
		}
	}
}

// TestMain_ASecondInterruptEndsIt interrupts a command that is reading a file: a pipe into which no one writes.
func TestMain_ASecondInterruptEndsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, pipe := filepath.Join(dir, "belfryctl"), filepath.Join(dir, "GPU001.TXT")
	errortest.None(t, checkout.Build(t.Context(), program, "./cmd/belfryctl"))
	errortest.None(t, syscall.Mkfifo(pipe, 0o600))
	command := exec.CommandContext(t.Context(), program, "untis", pipe, "--category", "lesson")
	errortest.None(t, command.Start())
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // its signal says how it ended
		close(ended)
	}()
	for deadline := time.After(time.Minute); ; {
		select {
		case <-ended:
			status, _ := command.ProcessState.Sys().(syscall.WaitStatus)
			valuetest.Same(t, status.Signal(), syscall.SIGINT, "what ended it")
			return
		case <-deadline:
			t.Fatal("it goes on after many interrupts")
		case <-time.After(100 * time.Millisecond):
			_ = command.Process.Signal(os.Interrupt) // it may have ended meanwhile
		}
	}
}
