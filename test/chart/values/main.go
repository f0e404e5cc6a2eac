// Command values writes the table of a chart's values for the documentation, from the comments above the values in
// its values.yaml.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

func main() { process.Main("values", run) }

func run(_ context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("argument: the values.yaml of a chart")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	return write(out, string(text))
}

const heading = `# Values of the chart

The values that ` + "`helm upgrade --install`" + ` takes by ` + "`--values`" + ` and ` + "`--set`" + `. Unknown or invalid ones are
refused by name. [operate.md](operate.md) says how they are used, [settings.md](settings.md) what the services
read in the end. This page is generated (` + "`make gen`" + `).

| value | default | meaning |
|---|---|---|
`

// line is one of values.yaml that names a value: its indentation, its key, and what follows.
var line = regexp.MustCompile(`^( *)([A-Za-z0-9]+):(?: (.*))?$`)

// write writes the page. A value without a comment is an error; one that holds others needs none.
func write(w io.Writer, text string) error {
	page := strings.Builder{}
	page.WriteString(heading)
	var path, comment []string
	for number, l := range strings.Split(text, "\n") {
		if said, ok := strings.CutPrefix(strings.TrimSpace(l), "# "); ok {
			comment = append(comment, said)
			continue
		}
		if l == "" {
			comment = nil
			continue
		}
		value := line.FindStringSubmatch(l)
		if value == nil || len(value[1])/2 > len(path) {
			return fmt.Errorf("line %d: not a value in a line of its own: %s", number+1, l)
		}
		path = append(path[:len(value[1])/2], value[2])
		meaning := strings.ReplaceAll(strings.Join(comment, " "), "|", `\|`)
		name := strings.Join(path, ".")
		switch {
		case value[3] != "" && meaning == "":
			return fmt.Errorf("line %d: %s has no comment", number+1, name)
		case value[3] != "":
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, fallback(value[3]), meaning)
		case meaning != "":
			fmt.Fprintf(&page, "| **%s** | | %s |\n", name, meaning)
		}
		comment = nil
	}
	_, err := io.WriteString(w, page.String())
	return err
}

func fallback(value string) string {
	switch value {
	case `""`, "{}", "[]":
		return "–"
	}
	return "`" + value + "`"
}
