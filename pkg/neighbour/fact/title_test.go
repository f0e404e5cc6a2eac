package fact

import (
	"slices"
	"testing"
)

func TestDecisionsPart9_ASystemNoteNamesOtherEventsByTheirIds(t *testing.T) {
	contents := "- 09\\:00, " + TitleOf(17) + ": " + PlainMarkdown("{18} Ann", 60) + "\n" +
		"- 10\\:00, " + TitleOf(19) + ": Bob"
	if got := TitlesIn(contents); !slices.Equal(got, []int64{17, 19}) {
		t.Errorf("the events are %v", got)
	}
	titles := map[int64]string{17: PlainMarkdown("{19} *Trip*", 80), 19: "Busy"}
	got := WithTitles(contents, func(id int64) string { return titles[id] })
	if want := "- 09\\:00, \\{19\\} \\*Trip\\*: \\{18\\} Ann\n- 10\\:00, Busy: Bob"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
