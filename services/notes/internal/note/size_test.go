package note

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestHardToBreak_Row02_TheLengthOfATextIsThatInJSON(t *testing.T) {
	every := make([]byte, 256) // most of them are no UTF-8
	for i := range every {
		every[i] = byte(i)
	}
	for _, text := range []string{
		"", "plain", `<a href="x">&</a>`, "é日\U0001f514", "\u2028\u2029\ufffd", string(every),
		strings.Repeat("<", 1000),
	} {
		encoded, err := json.Marshal(text)
		errortest.None(t, err)
		valuetest.Same(t, jsonLength(text), len(encoded)-2, "%q", text)
	}
}

func TestHardToBreak_Row02_AChangeTakesWhatItAdds(t *testing.T) {
	before := Note{EventID: 1, Contents: "<<", HTML: "x"}
	for name, c := range map[string]struct {
		after Note
		want  Size
	}{
		"longer":        {Note{EventID: 1, Contents: "<<<", HTML: "xyz"}, Size{0, 1, 8}},
		"shorter":       {Note{EventID: 1}, Size{}},
		"other text":    {Note{EventID: 1, Contents: "aaa", HTML: "x"}, Size{0, 1, 0}},
		"another event": {Note{EventID: 2, Contents: "<<", HTML: "x"}, Size{1, 2, 13}},
	} {
		valuetest.Same(t, growth(before, c.after), c.want, name)
	}
}
