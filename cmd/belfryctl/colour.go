package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/belfry-schools/belfry/client/api"
)

// colour is an attribute of a terminal's text; 0: none.
type colour int

const (
	bold   colour = 1
	red    colour = 31
	green  colour = 32
	yellow colour = 33
)

// statusColours are the colours of a commitment's status; a status that needs no decision has none.
var statusColours = map[string]colour{"requested": yellow, "rejected": red, "confirmed": green}

// changeColours are the colours of changes.
var changeColours = map[api.ChangeChange]colour{"created": green, "deleted": red}

// coloured says whether output is: on a terminal that can, and unless NO_COLOR is set (https://no-color.org).
func (s surroundings) coloured() bool {
	if s.env("NO_COLOR") != "" || s.env("TERM") == "dumb" {
		return false
	}
	return isTerminal(s.out)
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// paint returns a text in a colour, where output is coloured.
func (s surroundings) paint(c colour, text string) string {
	if c == 0 || !s.coloured() {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, text)
}

// paintTable colours an aligned table: its head, and the statuses in the column that begins at a rune of each line;
// -1: there is none.
func (s surroundings) paintTable(table string, status int) string {
	if !s.coloured() {
		return table
	}
	var painted strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		switch runes := []rune(line); {
		case i == 0:
			line = s.paint(bold, line)
		case status >= 0 && status < len(runes):
			word, rest, _ := strings.Cut(string(runes[status:]), " ")
			line = string(runes[:status]) + s.paint(statusColours[word], word)
			if rest != "" {
				line += " " + rest
			}
		}
		painted.WriteString(line + "\n")
	}
	return painted.String()
}
