package endtoend_test

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// step is a block of commands of a page and the answer below it, "" when there is none.
type step struct{ commands, answer string }

// fence matches the code blocks: commands are marked sh, answers json or text.
var fence = regexp.MustCompile("(?s)```(sh|json|text)\n(.*?)```")

// numbered matches ids, which differ from school to school.
var numbered = regexp.MustCompile(`"(id|entity_id|user_id)": ?\d+`)

// walk returns the steps of the tutorial, and then those of the README's section "A walk".
func walk(t *testing.T) []step {
	t.Helper()
	_, section, found := strings.Cut(checkout.Read(t, "README.md"), "\n## A walk")
	if !found {
		t.Fatal("the README has no walk")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	section = checkout.Read(t, "docs/tutorial.md") + section
	var steps []step
	for _, block := range fence.FindAllStringSubmatch(section, -1) {
		if block[1] == "sh" {
			steps = append(steps, step{commands: block[2]})
		} else {
			steps[len(steps)-1].answer = block[2]
		}
	}
	return steps
}

// awaitChanges waits until the list of changes has taken up the demo school: until then it may be 503 on a busy
// machine.
func awaitChanges(t *testing.T, run *localRun) {
	t.Helper()
	admin := servicetest.NewClient(t, run.URL)
	admin.Get(t, "/api/login?uuid="+run.adminUUID).Must(t, 200)
	for admin.Get(t, "/api/changes").Code != 200 {
		errortest.None(t, t.Context().Err())
	}
}

func TestTheREADMEsWalkAndTheTutorialGiveTheShownAnswers(t *testing.T) {
	t.Parallel()
	steps := walk(t)
	if len(steps) < 8 {
		t.Fatalf("only %d steps: the blocks are not found", len(steps))
	}
	run := startLocal(t, "DEMO_FIRST_YEAR=2026")
	awaitChanges(t, run)

	const mark = "--- end of step"
	script := "set -euo pipefail\n"
	for _, s := range steps {
		script += strings.ReplaceAll(s.commands, "http://127.0.0.1:8080", run.URL) +
			fmt.Sprintf("\necho; echo %q\n", mark)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", script)
	shell.Dir = t.TempDir()
	out, err := shell.Output()
	errortest.None(t, err, "after\n%s", out)
	answers := strings.Split(string(out), mark)
	for i, s := range steps {
		got, want := plain(answers[i]), plain(s.answer)
		if want != "" && got != want {
			t.Errorf("%s\nanswers\n%s\nwhere the page shows\n%s", s.commands, got, want)
		}
	}

	t.Run("by a generated client", func(t *testing.T) { walkGenerated(t, run) })
	t.Run("by the examples", func(t *testing.T) { runExamples(t, run) })
	t.Run("by the Go client", func(t *testing.T) { runClient(t, run) })
}

// plain removes the ids and the space around a text.
func plain(text string) string {
	return strings.TrimSpace(numbered.ReplaceAllString(text, `"$1": 0`))
}
