package element

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// letters are few, so that needles hit, with what patterns of other systems would take for wild cards and letters
// that fold unusually.
var letters = []rune("aAbB %_.*ßéÉİıσςΣкК世👩")

func TestDecisionsPart3_NamelikeIsAPartOfTheName(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom(letters), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		name, part := text.Draw(t, "name"), text.Draw(t, "part")
		needle := NewNeedle(part)
		found := needle.In(name)
		if want := strings.Contains(Fold(name), Fold(part)); found != want {
			t.Fatalf("%q in %q is %v, not %v", part, name, found, want)
		}
		stored := Grams(name)
		asked := !slices.ContainsFunc(needle.Grams, func(g string) bool { return !slices.Contains(stored, g) })
		if found && !asked {
			t.Fatalf("the grams %q of %q are not all in those of %q: %q", needle.Grams, part, name, stored)
		}
		if short := len([]rune(Fold(part))) <= longestGram; short && asked != found {
			t.Fatalf("a short needle %q needs no look at %q", part, name)
		}
	})
}

func TestDecisionsPart3_NamelikeLooksPastLetterCase(t *testing.T) {
	for _, c := range []struct {
		part, name string
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
		{"eloise", "Éloïse Dupont", false},
		{"世", "世界", true},
		{strings.Repeat("abcdefgh", 40), "abcdefgh", false},
		{strings.Repeat("abcdefgh", 40), strings.Repeat("ABCDEFGH", 41), true},
	} {
		if got := NewNeedle(c.part).In(c.name); got != c.found {
			t.Errorf("%q in %q is %v", c.part, c.name, got)
		}
	}
}

func TestNeedle_AsksTheStoreForFewGrams(t *testing.T) {
	if n := len(NewNeedle(strings.Repeat("abcdefghijklmnopqrstuvwxyz", 100)).Grams); n > needleGrams {
		t.Errorf("%d grams", n)
	}
}
