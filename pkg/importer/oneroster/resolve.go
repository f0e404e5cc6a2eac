package oneroster

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Options say how a folder is resolved.
type Options struct {
	Today string // the deployment's; days before it stay as they are
	Prune bool   // end memberships of today and later that have gone from files in bulk
}

// resolver makes a roster of a folder.
type resolver struct {
	*Folder
	known   *known
	roster  *Roster
	skipped tallies
	pairs   *bundle.Pairs
	kinds   map[string]string // of the folder's users
	said    map[string][]role // of each user
}

// Resolver is Resolve for load.Import.
func (f *Folder) Resolver(o Options) load.Resolver {
	return func(ctx context.Context, c *client.Client) (load.Source, error) { return f.Resolve(ctx, c, o) }
}

// Resolve makes records of the folder and of what is in Belfry: a delta leaves out what has not changed, and members
// of staff keep their initials. References to records that are neither in the folder nor in Belfry are faults: the
// error is a *csvfile.FaultsError.
func (f *Folder) Resolve(ctx context.Context, d Directory, o Options) (*Roster, error) {
	k, err := fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	faults := &csvfile.FaultsError{What: f.faults.What}
	for _, p := range f.pending {
		if !p.spared && !k.has(p.target, p.id) {
			faults.Add(p.fault)
		}
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	r := &resolver{Folder: f, known: k, pairs: bundle.NewPairs(), kinds: map[string]string{},
		said: map[string][]role{}, skipped: tallies{},
		roster: &Roster{kinds: map[bundle.Kind][]bundle.Row{}, there: map[string]bool{}}}
	r.addKinds()
	r.addUsers()
	r.addGroups()
	r.addMembers()
	if err := r.endMembers(ctx, d, o); err != nil {
		return nil, err
	}
	if r.roster.Has(bundle.Memberships) {
		r.roster.kinds[bundle.Memberships] = slices.Collect(r.pairs.Rows())
	}
	r.roster.skipped = r.skipped.list()
	return r.roster, nil
}

// addKinds records which kinds the folder's files have, and which of them completely.
func (r *resolver) addKinds() {
	for t, says := range map[table]struct {
		kinds []bundle.Kind
		keys  string
	}{
		users:       {[]bundle.Kind{bundle.Staff, bundle.Pupils, bundle.Memberships}, userKeys},
		orgs:        {[]bundle.Kind{bundle.Groups, bundle.Memberships}, orgKeys},
		classes:     {[]bundle.Kind{bundle.Groups, bundle.Memberships}, classKeys},
		roles:       {[]bundle.Kind{bundle.Memberships}, ""},
		enrollments: {[]bundle.Kind{bundle.Memberships}, ""},
	} {
		if !r.has(t) {
			continue
		}
		for _, kind := range says.kinds {
			r.roster.kinds[kind] = nil
		}
		if r.modes[t] == bulk && says.keys != "" {
			r.roster.whole = append(r.roster.whole, says.keys)
		}
	}
}

// addGroups makes groups of orgs and classes. One that was removed, and that Belfry never had, is left out.
func (r *resolver) addGroups() {
	for _, o := range r.orgs {
		g := bundle.GroupRecord{Name: o.name}
		if o.school {
			g.School = new(true)
		}
		r.addGroup(orgs, o.head, orgKeys, g)
	}
	for _, c := range r.classes {
		description, ok := r.courses[c.course]
		if !ok {
			description = r.known.elements[form.Group+":"+classKeys+c.id].description
		}
		r.addGroup(classes, c.head, classKeys, bundle.GroupRecord{Name: c.name, Description: description})
	}
}

func (r *resolver) addGroup(t table, h head, keys string, g bundle.GroupRecord) {
	g.Key = keys + h.id
	if _, stored := r.known.elements[form.Group+":"+g.Key]; h.removed && !stored {
		r.skipped.add(t, neverHere)
		return
	}
	g.Current = currentOf(h)
	r.roster.add(bundle.Groups, t, h.line, g.Key, g)
}

// Why rows are left out.
const (
	neverHere   = "removed, and not in Belfry"
	noPeople    = "neither staff nor pupils (guardian, parent, relative)"
	noRole      = "users without a role"
	noDays      = "end before they begin"
	leftOut     = "of users or groups that are left out"
	notEnrolled = "roles that are neither staff nor pupil"
)

// currentOf is nil for a current record, like the empty cell of a bundle.
func currentOf(h head) *bool {
	if !h.removed {
		return nil
	}
	return new(bool)
}

// Roster is a folder as records of a bundle, ready to be loaded. It is safe for use by several goroutines.
type Roster struct {
	kinds   map[bundle.Kind][]bundle.Row // of the tables that the folder has
	there   map[string]bool              // elements of the folder's, as Type:key
	whole   []string                     // prefixes of the keys of elements that the folder has in bulk
	skipped []Skipped
	ended   []load.Ended
}

// Skipped counts rows that were left out for a reason.
type Skipped struct {
	File   string `json:"file"`
	Rows   int    `json:"rows"`
	Reason string `json:"reason"`
}

// String returns file: rows: reason.
func (s Skipped) String() string {
	return fmt.Sprintf("%s: %s left out: %s", s.File, csvfile.Plural(s.Rows, "row"), s.Reason)
}

// Skipped lists what was left out, by file and reason.
func (r *Roster) Skipped() []Skipped { return r.skipped }

// Ended counts the memberships that Prune ends because a file in bulk lacks them, for each file that has memberships of
// today or later.
func (r *Roster) Ended() []load.Ended { return r.ended }

// Has reports whether the folder has a file for the kind.
func (r *Roster) Has(kind bundle.Kind) bool {
	_, ok := r.kinds[kind]
	return ok
}

// Count is the number of records of the kind.
func (r *Roster) Count(kind bundle.Kind) int { return len(r.kinds[kind]) }

// Rows yields the records of the kind, never an error.
func (r *Roster) Rows(kind bundle.Kind) iter.Seq2[bundle.Row, error] {
	return func(yield func(bundle.Row, error) bool) {
		for _, row := range r.kinds[kind] {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Gone reports whether an element, given as Type:key, came from a roster and is missing from the folder's files in
// bulk.
func (r *Roster) Gone(reference string) bool {
	_, key, _ := strings.Cut(reference, ":")
	return !r.there[reference] &&
		slices.ContainsFunc(r.whole, func(keys string) bool { return strings.HasPrefix(key, keys) })
}

// add adds the record of the element in the line of a file.
func (r *Roster) add(kind bundle.Kind, t table, line int, key string, record any) {
	r.kinds[kind] = append(r.kinds[kind], bundle.Row{File: t.file(), Line: line, Key: key, Record: record})
	r.there[kind.EntityType()+":"+key] = true
}

// tallies counts rows by file and reason.
type tallies map[[2]string]int

func (t tallies) add(from table, reason string) { t[[2]string{from.file(), reason}]++ }

func (t tallies) list() []Skipped {
	var all []Skipped
	for at, rows := range t {
		all = append(all, Skipped{File: at[0], Rows: rows, Reason: at[1]})
	}
	slices.SortFunc(all,
		func(a, b Skipped) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Reason, b.Reason)) })
	return all
}

// Directory lists what is in Belfry; a logged-in client.Client is one.
type Directory interface {
	List(ctx context.Context, path, part string, query url.Values) iter.Seq2[client.Record, error]
}

// The prefixes of keys that come from a roster. Orgs and classes are both groups, and may have the same sourcedId.
const (
	orgKeys   = bundle.Reserved + "org:"
	classKeys = bundle.Reserved + "class:"
	userKeys  = bundle.Reserved + "user:"
)

// known is the part of Belfry's records that a roster needs.
type known struct {
	elements map[string]element // those of rosters, by Type:key
	keys     map[int64]string   // theirs, by id
	initials map[string]int     // how many members of staff have them
}

type element struct {
	id          int64
	current     bool
	initials    string
	description string
}

// fetch reads the elements.
func fetch(ctx context.Context, d Directory) (*known, error) {
	k := &known{elements: map[string]element{}, keys: map[int64]string{}, initials: map[string]int{}}
	for _, entityType := range []string{form.Staff, form.Pupil, form.Group} {
		for record, err := range d.List(ctx, "/api/admin/elements", "elements",
			url.Values{"entity_type": {entityType}}) {
			if err != nil {
				return nil, err
			}
			if entityType == form.Staff {
				k.initials[record.Text("initials")]++
			}
			key := record.Text("key")
			if _, own, _ := strings.Cut(key, ":"); strings.HasPrefix(own, bundle.Reserved) {
				k.keys[record.ID("id")] = key
				k.elements[key] = element{id: record.ID("id"), current: record["current"] == true,
					initials: record.Text("initials"), description: record.Text("description")}
			}
		}
	}
	return k, nil
}

// members lists the roster members of a group on that day or later, as Type:key, each once.
func (k *known) members(ctx context.Context, d Directory, group, today string) ([]string, error) {
	var all []string
	listed := map[string]bool{}
	for record, err := range d.List(ctx,
		fmt.Sprintf("/api/admin/elements/%d/members", k.elements[form.Group+":"+group].id), "members", nil) {
		if err != nil {
			return nil, err
		}
		last := record.Text("last_day")
		if key := k.keys[record.ID("element_id")]; key != "" && !listed[key] && (last == "" || last >= today) {
			listed[key] = true
			all = append(all, key)
		}
	}
	return all, nil
}

// has reports whether Belfry has the record of a reference.
func (k *known) has(t table, id string) bool {
	keys, isGroup := map[table]string{orgs: orgKeys, classes: classKeys}[t]
	if !isGroup {
		return k.kind(id) != neither
	}
	_, ok := k.elements[form.Group+":"+keys+id]
	return ok
}

// kind is the kind of a user in Belfry; of two elements, the current one counts.
func (k *known) kind(id string) string {
	found := neither
	for _, kind := range []string{pupil, staff} {
		if e, ok := k.elements[kind+":"+userKeys+id]; ok && (found == neither || e.current) {
			found = kind
		}
	}
	return found
}
