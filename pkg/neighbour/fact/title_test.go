package fact

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart9_ASystemNoteNamesOtherEventsByTheirIds(t *testing.T) {
	contents := "- 09\\:00, " + TitleOf(17) + ": " + PlainMarkdown("{18} Ann", 60) + "\n" +
		"- 10\\:00, " + TitleOf(19) + ": Bob"
	valuetest.List(t, TitlesIn(contents), []int64{17, 19}, "the events")
	titles := map[int64]string{17: PlainMarkdown("{19} *Trip*", 80), 19: "Busy"}
	got := WithTitles(contents, func(id int64) string { return titles[id] })
	valuetest.Same(t, got, "- 09\\:00, \\{19\\} \\*Trip\\*: \\{18\\} Ann\n- 10\\:00, Busy: Bob")
}
