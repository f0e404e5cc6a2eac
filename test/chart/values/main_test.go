package main

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestEachValueIsARow(t *testing.T) {
	const values = "# About the file.\n\n# Mail\nmail:\n  # The server\n  host: \"\"\n  # Its port,\n  # a number\n" +
		"  port: 587\nservices:\n  # One | other\n  events: {name: \"\", key: a}\n# Last\nlast: []\n"
	const rows = "| **mail** | | Mail |\n| `mail.host` | – | The server |\n" +
		"| `mail.port` | `587` | Its port, a number |\n| `services.events` | `{name: \"\", key: a}` | One \\| other " +
		"|\n| `last` | – | Last |\n"
	var page strings.Builder
	errortest.None(t, write(&page, values))
	_, got, _ := strings.Cut(page.String(), "|---|---|---|\n")
	valuetest.Same(t, got, rows)
}

func TestAValueWithoutACommentIsRefused(t *testing.T) {
	for values, want := range map[string]string{
		"# A\na: 1\nb: 2\n":     "line 3: b has no comment",
		"# A\n\na: 1\n":         "line 3: a has no comment",
		"# A\na:\n  - one\n":    "line 3: not a value in a line of its own:   - one",
		"# A\na:\n    b: one\n": "line 3: not a value in a line of its own:     b: one",
	} {
		if err := write(&strings.Builder{}, values); err == nil || err.Error() != want {
			t.Errorf("%q: %v", values, err)
		}
	}
}
