package problem_test

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart4_TextsAreSeenAndHoldNoControlCharacters(t *testing.T) {
	title := problem.Text{Most: 20, Required: true}
	remark := problem.Text{Most: 20, Lines: true}
	for _, c := range []struct {
		rule       problem.Text
		text, want string
	}{
		{title, "Assembly", ""}, {title, "7", ""}, {title, "–", ""}, {title, "体育", ""}, {title, "👩\u200d🏫", ""},
		{title, "e\u0301", ""}, {title, "\u202bשיעור\u202c", ""}, {title, "\U0001fae9", ""}, {title, "", problem.Blank},
		{title, strings.Repeat("é", 20), ""}, {title, strings.Repeat("é", 21), problem.TooLong(20)},
		{title, "\x00", problem.ControlCharacter}, {title, "a\x00b", problem.ControlCharacter},
		{title, "a\nb", problem.ControlCharacter}, {title, "a\tb", problem.ControlCharacter},
		{title, "a\x7f", problem.ControlCharacter}, {title, "a\u0085b", problem.ControlCharacter},
		{title, "\u200b", problem.Invisible}, {title, "\u200d\u2060\ufeff", problem.Invisible},
		{title, "\u202e \u00a0", problem.Invisible}, {title, "\u0301\ufe0f", problem.Invisible},
		{title, "\u3164\u115f\uffa0\u2800", problem.Invisible}, {title, "\U000e0020", problem.Invisible},
		{title, "\u2028", problem.Invisible},
		{remark, "", ""}, {remark, "one\r\n\ttwo", ""}, {remark, "\u200b\n", problem.Invisible},
		{remark, "one\x0btwo", problem.ControlCharacter},
	} {
		faults := problem.Fields{}
		c.rule.Check(faults, "text", c.text)
		valuetest.Same(t, strings.Join(faults["text"], "; "), c.want, "%q", c.text)
	}
}

func TestText_KeepsTheFirstFaultOfAField(t *testing.T) {
	faults := problem.Fields{"text": {problem.NotAString}}
	problem.Text{Required: true}.Check(faults, "text", "")
	valuetest.Same(t, len(faults["text"]), 1, "%v", faults)
}
