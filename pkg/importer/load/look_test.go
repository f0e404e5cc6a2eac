package load

import (
	"fmt"
	"iter"
	"testing"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestShareAWord_NamesOfSingleLettersAreTheirOwn has names as in data without real ones: each import of the same file
// said that they were other people.
func TestShareAWord_NamesOfSingleLettersAreTheirOwn(t *testing.T) {
	t.Parallel()
	for is, want := range map[string]bool{"P Q": true, "Q": true, "P R": false, "Pam Quill": false, "": true} {
		valuetest.Same(t, shareAWord("P Q (9A)", is), want, "%q", is)
	}
	valuetest.Same(t, shareAWord("J - J K", "J - J L"), false, "staff of one letter each")
}

// roster has pupils with keys from 0 on, as a roster of another program has beside those of a bundle.
type roster int

func (r roster) Has(kind bundle.Kind) bool { return kind == bundle.Pupils }

func (r roster) Count(bundle.Kind) int { return int(r) }

func (r roster) Rows(bundle.Kind) iter.Seq2[bundle.Row, error] {
	return func(yield func(bundle.Row, error) bool) {
		for i := range int(r) {
			key := fmt.Sprintf("oneroster:%d", i)
			if !yield(bundle.Row{File: "users.csv", Key: key, Record: bundle.PupilRecord{Key: key}}, nil) {
				return
			}
		}
	}
}

func (r roster) Gone(reference string) bool {
	var key int
	_, err := fmt.Sscanf(reference, "Pupil:oneroster:%d", &key)
	return err == nil && key >= int(r)
}

// TestWarnings_ATenthIsOfWhatCameFromTheSource has many pupils of a bundle besides: with these counted, half of the
// roster's was no tenth.
func TestWarnings_ATenthIsOfWhatCameFromTheSource(t *testing.T) {
	t.Parallel()
	stored := Stored{}
	for i := range 200 {
		stored[fmt.Sprintf("Pupil:%d", i)] = client.Record{"current": "true"}
	}
	for i := range 20 {
		stored[fmt.Sprintf("Pupil:oneroster:%d", i)] = client.Record{"current": "true"}
	}
	got, err := stored.Warnings(roster(10), roster(10).Gone)
	errortest.None(t, err)
	valuetest.Equal(t, got, []Warning{{"10 of 20 current pupils from such files would no longer be current", "pupils"}})
}

// truncated is a roster of which files lack memberships.
type truncated struct {
	roster
	ended []Ended
}

func (t truncated) Ended() []Ended { return t.ended }

// TestWarnings_ATenthOfTheMembershipsOfAFile: a truncated file would end those that it lacks, though no one has left.
func TestWarnings_ATenthOfTheMembershipsOfAFile(t *testing.T) {
	t.Parallel()
	got, err := Stored{}.Warnings(truncated{0, []Ended{{"users.csv", 62, 624}, {"enrollments.csv", 63, 624}}}, nil)
	errortest.None(t, err)
	valuetest.Equal(t, got, []Warning{{"63 of 624 memberships of enrollments.csv would end", "memberships"}})
}

// TestErased_WhoDecidedOrAskedIsNamed has the users whom only a row of commitments.csv names.
func TestErased_WhoDecidedOrAskedIsNamed(t *testing.T) {
	t.Parallel()
	erased := erasedKeys{"User:gone": true}
	for name, decision := range map[string]bundle.Decision{
		"decided": {Element: "Location:G7", DecidedBy: "gone"}, "asked": {Element: "Location:G7", AskedBy: "gone"},
	} {
		row := bundle.EventRecord{Decisions: []bundle.Decision{{Element: "Location:G8"}, decision}}
		valuetest.Same(t, erased.namedBy(row), true, name)
	}
}
