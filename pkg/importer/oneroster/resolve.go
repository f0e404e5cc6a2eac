package oneroster

import (
	"context"
	"slices"

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
	return func(ctx context.Context, c *client.Client) (load.Source, error) {
		roster, err := f.Resolve(ctx, c, o)
		if err != nil {
			return nil, err
		}
		return roster, nil
	}
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
	notEnrolled = "roles of others than staff and pupils"
)

// currentOf is nil for a current record, like the empty cell of a bundle.
func currentOf(h head) *bool {
	if !h.removed {
		return nil
	}
	return new(bool)
}
