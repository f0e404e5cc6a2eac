package oneroster

import (
	"context"
	"strings"

	"github.com/belfry-schools/belfry/deploy/bundle"
	"github.com/belfry-schools/belfry/pkg/contract"
)

// addMembers makes memberships of what orgs say of their parents, users (1.1) or roles (1.2) of their orgs, and enrollments of classes.
func (r *resolver) addMembers() {
	for _, o := range r.orgs {
		if o.parent != "" {
			r.addMember(orgs, o.head, orgKeys+o.parent, r.group(orgKeys+o.id), bundle.Span{})
		}
	}
	for _, id := range r.userOrder {
		u := r.users[id]
		for _, of := range u.orgs {
			r.addMember(users, u.head, orgKeys+of, r.member(id), bundle.Span{})
		}
	}
	for _, o := range r.Folder.roles {
		r.addMember(roles, o.head, orgKeys+o.org, r.member(o.user), spanOf(o.first, o.last))
	}
	for _, e := range r.enrollments {
		if roleTypes[e.role] == nobody {
			r.skipped.add(enrollments, notEnrolled)
			continue
		}
		first, last := r.within(e)
		r.addMember(enrollments, e.head, classKeys+e.class, r.member(e.user), spanOf(first, last))
	}
}

// dayOne is before all others.
const dayOne = "0001-01-01"

// addMember adds what one row says of a pair. The row is the source of its days, so that a delta changes those and no others.
func (r *resolver) addMember(t table, h head, group, member string, span bundle.Span) {
	switch {
	case r.group(group) == "" || member == "":
		if t != users { // who is left out with all rows is counted there
			r.skipped.add(t, nobodyHere)
		}
	case h.removed && r.modes[t] == delta:
		r.pairs.of(t, h.line, group, member).ends(h.id, h.changed)
	case h.removed:
	case span.FirstDay != nil && span.LastDay != nil && *span.LastDay < *span.FirstDay:
		r.skipped.add(t, noDays)
		if r.modes[t] == delta { // it may have had days before
			r.pairs.of(t, h.line, group, member).ends(h.id, dayOne)
		}
	default:
		span.Source = h.id
		r.pairs.of(t, h.line, group, member).says(r.modes[t], span)
	}
}

// group is the Type:key of a group that is in the folder or in Belfry, empty otherwise.
func (r *resolver) group(key string) string {
	reference := contract.Group + ":" + key
	if _, stored := r.known.elements[reference]; !stored && !r.roster.there[reference] {
		return ""
	}
	return reference
}

// within gives an enrollment the days of its class's terms where it has none of its own: from the first day of the first to the last
// day of the last. Terms that are not in the folder leave them open.
func (r *resolver) within(e enrollment) (first, last string) {
	for _, id := range r.classes[e.class].terms {
		term, ok := r.sessions[id]
		if !ok {
			continue
		}
		if first == "" || term.first < first {
			first = term.first
		}
		last = max(last, term.last)
	}
	if e.first != "" {
		first = e.first
	}
	if e.last != "" {
		last = e.last
	}
	return first, last
}

// spanOf makes open ends of days that are not there.
func spanOf(first, last string) bundle.Span {
	var span bundle.Span
	if first != "" {
		span.FirstDay = &first
	}
	if last != "" {
		span.LastDay = &last
	}
	return span
}

// endMembers ends what has gone: with Prune, today, memberships that a file in bulk no longer has; in any case those of users and orgs
// whose row in a delta has other orgs now, for such a row has all of them.
func (r *resolver) endMembers(ctx context.Context, d Directory, o Options) error {
	moved := r.moved()
	groups := map[string]table{}
	for _, org := range r.orgs {
		groups[orgKeys+org.id] = r.orgMembers()
	}
	for _, id := range r.classOrder {
		groups[classKeys+id] = enrollments
	}
	for reference := range r.known.elements {
		if key, ok := strings.CutPrefix(reference, contract.Group+":"+orgKeys); ok && len(moved) > 0 {
			groups[orgKeys+key] = r.orgMembers()
		}
	}
	asked := map[string]bool{}
	for group, t := range groups {
		isOrg := strings.HasPrefix(group, orgKeys)
		if o.Prune && r.modes[t] == bulk || isOrg && len(moved) > 0 {
			asked[group] = true
		}
	}
	for _, group := range sorted(asked) {
		if err := r.known.askMembers(ctx, d, group, o.Today); err != nil {
			return err
		}
		for _, member := range r.known.members[group] {
			t := groups[group]
			if strings.HasPrefix(member, contract.Group+":") {
				t = orgs
			}
			if r.pairs.has(group, member) {
				continue
			}
			if change, ok := moved[member]; ok && strings.HasPrefix(group, orgKeys) {
				r.pairs.of(change.from, change.line, group, member).ends("", change.day)
			} else if o.Prune && r.modes[t] == bulk {
				r.pairs.of(t, 1, group, member).ends("", o.Today)
			}
		}
	}
	return nil
}

// orgMembers is the table that says who is in orgs.
func (r *resolver) orgMembers() table {
	if r.version == version12 {
		return roles
	}
	return users
}

// move is a row of a delta that says all orgs of a user, or the parent of an org.
type move struct {
	from table
	line int
	day  string
}

// moved lists such rows by the member's Type:key.
func (r *resolver) moved() map[string]move {
	all := map[string]move{}
	if r.modes[orgs] == delta {
		for _, o := range r.orgs {
			if member := r.group(orgKeys + o.id); member != "" {
				all[member] = move{orgs, o.line, o.changed}
			}
		}
	}
	if r.version == version11 && r.modes[users] == delta {
		for _, id := range r.userOrder {
			if member := r.member(id); member != "" {
				all[member] = move{users, r.users[id].line, r.users[id].changed}
			}
		}
	}
	return all
}
