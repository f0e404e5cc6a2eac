package needle_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// letters are few, so that needles hit, with what patterns of other systems would take for wild cards and letters
// that fold unusually.
var letters = []rune("aAbB %_.*ßéÉİıσςΣкК世👩\u0301")

func TestDecisionsPart3_ANeedleIsAPartOfTheText(t *testing.T) {
	drawn := rapid.StringOfN(rapid.RuneFrom(letters), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		text, part := drawn.Draw(t, "text"), drawn.Draw(t, "part")
		n := needle.New(part)
		found := n.In(text)
		valuetest.MustSame(t, found, strings.Contains(needle.Fold(text), needle.Fold(part)), "%q in %q", part, text)
		stored := needle.Grams(text, 1)
		grams := n.Grams(rapid.IntRange(1, 12).Draw(t, "most"))
		asked := !slices.ContainsFunc(grams, func(g string) bool { return !slices.Contains(stored, g) })
		if found && !asked {
			t.Fatalf("the grams %q of %q are not all in those of %q: %q", grams, part, text, stored)
		}
		if n.Length() <= needle.Gram && asked != found {
			t.Fatalf("a short needle %q needs no look at %q", part, text)
		}
	})
}

func TestDecisionsPart3_FoldingIsTheSameTwice(t *testing.T) {
	drawn := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom(letters)))
	rapid.Check(t, func(t *rapid.T) {
		text := drawn.Draw(t, "text")
		once := needle.Fold(text)
		valuetest.MustSame(t, needle.Fold(once), once, "%q is %q, and that", text, once)
	})
}

func TestDecisionsPart3_ANeedleLooksPastLetterCaseAndAccents(t *testing.T) {
	for _, c := range []struct {
		part, text string
		found      bool
	}{
		{"smith", "JRS - John Smith", true},
		{"SMITH", "JRS - John Smith", true},
		{"n s", "JRS - John Smith", true},
		{"JohnSmith", "JRS - John Smith", false},
		{"%", "JRS - John Smith", false},
		{"J_S", "JRS - John Smith", false},
		{"J.S", "JRS - John Smith", false},
		{"J*", "JRS - John Smith", false},
		{"100%", "Hall 100% full", true},
		{"STRASSE", "Straße 5", true},
		{"straße", "STRASSE 5", true},
		{"ΟΔΟΣ", "Μεγάλη οδος", true},
		{"éloïse", "Éloïse Dupont", true},
		{"E\u0301loi\u0308se", "éloïse Dupont", true}, // composed or not
		{"eloise", "Éloïse Dupont", true},
		{"emile", "Émile Zola", true},
		{"Émile", "Emile Zola", true},
		{"\u0301", "Zola", true}, // nothing is left of it
		{"istanbul", "İSTANBUL", true},
		{"ก", "กำ", true},
		{"กี", "กา", false}, // vowels of a script are letters
		{"世", "世界", true},
		{"ꭰ", "Ꭰ", true},
		{"Ꭰ", "ꭰ", true},
		{strings.Repeat("abcdefgh", 40), "abcdefgh", false},
		{strings.Repeat("abcdefgh", 40), strings.Repeat("ABCDEFGH", 41), true},
	} {
		valuetest.Same(t, needle.New(c.part).In(c.text), c.found, "%q in %q", c.part, c.text)
	}
}

func TestANeedleHasFewGramsFromAllOfIt(t *testing.T) {
	n := needle.New(strings.Repeat("abcdefghijklmnopqrstuvwxyz", 100) + "0123")
	grams := n.Grams(5)
	if len(grams) == 0 || len(grams) > 5 || !slices.Contains(grams, "abc") || !slices.Contains(grams, "123") {
		t.Errorf("%q", grams)
	}
	if grams := needle.New("\u0301").Grams(5); grams != nil {
		t.Errorf("an empty one has %q", grams)
	}
}
