package user

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Row is one record of an import (administration, users.csv).
type Row struct {
	record.Row
	Edit    Edit    // without an element
	Element string  // key, "Staff:17"; "": none
	UUID    *string // nil: the user keeps its uuid; a new user gets a random one
	// AdminOf are the schools that the user administers, by their keys, "Group:9"; nil: the user keeps those it has.
	AdminOf *[]string
	// StandsFor are the pupils that the user stands for, by their keys, "Pupil:12"; nil: the user keeps those it has.
	StandsFor *[]string
}

// Import makes the users agree with the rows, see record.Import. A row replaces the whole user: what it leaves out gets
// its default. Only uuid, active, the schools that the user administers, the pupils that it stands for, and whether its
// address is meant to be another's too stay when it leaves them out, so that a change of name does not unlock a user
// who was locked out. In a dry run, references may not exist yet, and groups may not be schools yet. A row fails whose
// user, before it or after it, is not p's to administer.
func (s *Service) Import(ctx context.Context, p principal.Principal, rows []Row) ([]record.Outcome, error) {
	var b importBatch
	return record.Import[Row, User]{
		DryRun: record.IsDryRun(ctx),
		Find: func(ctx context.Context, rows []Row) (_ map[string]User, err error) {
			b, err = s.read(ctx, p, rows)
			return b.stored, err
		},
		Imported: func(u User) (int64, string) { return u.ID, u.ImportHash },
		Refuse: func(_ Row, stored User) problem.Fields {
			if stored.ID != 0 && !b.own.Has(stored.ElementID) {
				return problem.Fields{"key": {problem.NotAdministered}}
			}
			return nil
		},
		Apply: func(row Row, stored User) (User, error) {
			u, err := b.apply(p, row, stored)
			b.promotes = b.promotes || err == nil && u.ActiveAdministrator() && !stored.ActiveAdministrator()
			return u, err
		},
		Insert: s.insertRows,
		Change: func(ctx context.Context, row Row, stored, _ User) error {
			if !b.dry {
				return s.changeRow(ctx, p, row, stored, b)
			}
			return ofRow(stored, s.demote(ctx, stored.ID, &b))
		},
		Last: User.resigns,
	}.Run(ctx, rows)
}

// apply returns the user that a row asks for.
func (b importBatch) apply(p principal.Principal, row Row, stored User) (User, error) {
	if stored.Erased { // by a row with the key that hides its own
		return stored, record.ErrUnchanged
	}
	u := stored
	if u.ID == 0 {
		u = newUser()
		u.UUIDHash = HashUUID(newUUID())
	}
	faults := row.apply(&u, b)
	b.check(row, faults)
	b.checkEmail(u, stored, faults)
	if stored.ID != 0 {
		noMore(stored, p, faults)
	}
	b.checkReach(row, stored, faults)
	if p.Token.ID != 0 && u.UUIDHash != stored.UUIDHash && row.UUID != nil {
		faults.Add("uuid", uuidByToken)
	}
	noMore(u, p, faults)
	return u, record.Invalid(u, faults)
}

// apply makes u what the row says and returns the faults of the result.
func (row Row) apply(u *User, b importBatch) problem.Fields {
	u.Key, u.ImportHash = row.Key, row.Hash
	u.Kind, u.ElementID, u.Permissions = principal.Staff, b.elements[row.Element], principal.Permissions{}
	if row.UUID != nil && u.UUIDHash != HashUUID(*row.UUID) {
		u.UUIDHash = HashUUID(*row.UUID)
		u.endSessions()
	}
	e := row.Edit
	e.AdminOf, e.StandsFor = idsOf(row.AdminOf, b.schools), idsOf(row.StandsFor, b.elements)
	return e.apply(u)
}

// idsOf are the ids of the known keys; nil for nil.
func idsOf(keys *[]string, known map[string]int64) *[]int64 {
	if keys == nil {
		return nil
	}
	ids := []int64{}
	for _, key := range *keys {
		if id, is := known[key]; is {
			ids = append(ids, id)
		}
	}
	return &ids
}

// importBatch is the stored state that the rows of a batch are compared with.
type importBatch struct {
	dry      bool
	stored   map[string]User     // by key
	erased   map[string]bool     // the keys of users who have been erased
	gone     map[string]bool     // those of elements that have been, with the type; none in a dry run
	elements map[string]int64    // by "Type:key"
	schools  map[string]int64    // those of the elements that are schools
	holders  map[string]string   // hash of a uuid → import key of the user or row that has it; "": a user made by hand
	emails   map[string][]string // address → the keys, as in holders, of the active users and rows that have it
	own      authority.Own       // of the users, and of the elements
	withheld []int64             // elements as whose users the importer may not act
	promotes bool                // a row makes an active administrator, so that others may cease to be one
	demoted  []int64             // in a dry run: those who would cease to be one
}

// read reads the users of the rows, the elements that they name, and who has their uuids.
func (s *Service) read(ctx context.Context, p principal.Principal, rows []Row) (importBatch, error) {
	b := importBatch{
		dry:    record.IsDryRun(ctx),
		stored: map[string]User{}, erased: map[string]bool{}, gone: map[string]bool{},
		elements: map[string]int64{}, schools: map[string]int64{}, holders: map[string]string{},
		emails: map[string][]string{},
	}
	keys := sequence.Map(rows, func(row Row) string { return row.Key })
	salt, err := s.Store.ErasureSalt(ctx)
	if err != nil {
		return b, err
	}
	hidden := erasure.Keys(salt, keys)
	users, err := s.Store.FindByKeys(ctx, slices.Concat(keys, slices.Collect(maps.Keys(hidden))))
	if err != nil {
		return b, err
	}
	for _, u := range users {
		if key, erased := hidden[u.Key]; erased {
			b.erased[key] = true
		}
		b.stored[u.Key] = u
	}
	wanted := map[string]bool{}
	var hashes, emails []string
	var theirs []int64 // elements of the users that rows change
	for _, row := range rows {
		if b.stored[row.Key].ImportHash == row.Hash {
			continue
		}
		if u, exists := b.stored[row.Key]; exists {
			theirs = append(theirs, u.ElementID)
		}
		if row.Edit.Email != nil {
			emails = append(emails, FoldEmail(*row.Edit.Email))
		}
		if row.Element != "" {
			wanted[row.Element] = true
		}
		for _, keys := range []*[]string{row.AdminOf, row.StandsFor} {
			if keys != nil {
				for _, key := range *keys {
					wanted[key] = true
				}
			}
		}
		if row.UUID != nil {
			hashes = append(hashes, HashUUID(*row.UUID))
		}
	}
	question := fact.ElementsQuestion{Keys: slices.Collect(maps.Keys(wanted)), Erased: !b.dry}
	facts, err := s.Elements.Facts(ctx, question)
	if err != nil {
		return b, err
	}
	for _, e := range facts {
		if e.Erased {
			b.gone[e.Key] = true
			continue
		}
		b.elements[e.Key] = e.ID
		if e.School {
			b.schools[e.Key] = e.ID
		}
	}
	ids := slices.Collect(maps.Values(b.elements))
	if b.withheld, err = s.withheld(ctx, p, slices.Concat(ids, theirs)...); err != nil {
		return b, err
	}
	for _, u := range users {
		ids = append(ids, u.ElementID)
	}
	if b.own, err = authority.AskOwn(ctx, p, ids, s.Elements.Belonging); err != nil {
		return b, err
	}
	holders, err := s.Store.FindByUUIDHashes(ctx, hashes)
	if err != nil {
		return b, err
	}
	for _, u := range holders {
		b.holders[u.UUIDHash] = u.Key
	}
	addressed, err := s.Store.FindByEmails(ctx, emails)
	for _, u := range addressed {
		if u.Active {
			folded := FoldEmail(u.Email)
			b.emails[folded] = append(b.emails[folded], u.Key)
		}
	}
	return b, err
}

// check adds the faults of the row's references, and reserves its uuid against later rows.
func (b importBatch) check(row Row, faults problem.Fields) {
	if b.erased[row.Key] {
		faults.Add("key", erasure.Refused)
	}
	if utf8.RuneCountInString(row.Key) > maxKey {
		faults.Add("key", problem.TooLong(maxKey))
	}
	switch id, exists := b.elements[row.Element]; {
	case row.Element == "" && !b.own.All():
		faults.Add("element", problem.Blank)
	case b.gone[row.Element]:
		faults.Add("element", erasure.Gone)
	case row.Element == "" || !exists && b.dry:
	case !exists:
		faults.Add("element", problem.MustExist)
	case !b.own.Has(id):
		faults.Add("element", problem.NotAdministered)
	}
	for _, list := range []struct {
		field string
		keys  *[]string
		known map[string]int64
		not   string
	}{{"admin_of", row.AdminOf, b.schools, NotSchools}, {"stands_for", row.StandsFor, b.elements, NotPupils}} {
		if list.keys == nil || len(*list.keys) == 0 {
			continue
		}
		isNone := func(key string) bool { return list.known[key] == 0 }
		isGone := func(key string) bool { return b.gone[key] }
		switch {
		case !b.own.All():
			faults.Add(list.field, problem.ForAdmins)
		case slices.ContainsFunc(*list.keys, isGone):
			faults.Add(list.field, erasure.Gone)
		case !b.dry && slices.ContainsFunc(*list.keys, isNone):
			faults.Add(list.field, list.not)
		}
	}
	if row.UUID == nil {
		return
	}
	if err := CheckUUID(*row.UUID); err != nil {
		faults.Add("uuid", err.Error())
		return
	}
	hash := HashUUID(*row.UUID)
	if holder, held := b.holders[hash]; held && holder != row.Key {
		faults.Add("uuid", problem.Taken)
		return
	}
	b.holders[hash] = row.Key
}

// checkEmail adds a fault when u begins to claim an address that another active user or row has, and claims it against
// later rows.
func (b importBatch) checkEmail(u, stored User, faults problem.Fields) {
	claimed := u.ClaimedEmail()
	if claimed == "" || claimed == stored.ClaimedEmail() {
		return
	}
	if slices.ContainsFunc(b.emails[claimed], func(holder string) bool { return holder != u.Key }) {
		faults.Add("email", emailOfAnother)
		return
	}
	b.emails[claimed] = append(b.emails[claimed], u.Key)
}

// checkReach adds a fault when the row gives a user an element that is withheld, or another uuid, address or element to
// one that has to keep its own. A new user is zero.
func (b importBatch) checkReach(row Row, u User, faults problem.Fields) {
	if id := b.elements[row.Element]; id != u.ElementID && len(faults["element"]) == 0 {
		if slices.Contains(b.withheld, id) || slices.Contains(b.withheld, u.ElementID) {
			faults.Add("element", problem.Withheld)
		}
	}
	if !slices.Contains(b.withheld, u.ElementID) {
		return
	}
	if row.UUID != nil && u.UUIDHash != HashUUID(*row.UUID) && len(faults["uuid"]) == 0 {
		faults.Add("uuid", problem.Withheld)
	}
	if e := row.Edit.Email; e != nil && u.Email != strings.TrimSpace(*e) && len(faults["email"]) == 0 {
		faults.Add("email", problem.Withheld)
	}
}

// insertRows stores new users, and returns the faults of those whose key, uuid or address another user has got
// meanwhile.
func (s *Service) insertRows(ctx context.Context, users []User) ([]problem.Fields, error) {
	inserted := make([]*User, len(users))
	for i := range users {
		inserted[i] = &users[i]
	}
	taken, err := s.Store.Insert(ctx, inserted)
	refused := make([]problem.Fields, len(taken))
	for i, by := range taken {
		if by != nil {
			refused[i] = takenField(by)
		}
	}
	return refused, err
}

// changeRow makes a stored user what the row says. Another writer may have changed it since it was read.
func (s *Service) changeRow(ctx context.Context, p principal.Principal, row Row, stored User, b importBatch) error {
	_, err := s.change(ctx, stored.ID, func(u *User) error {
		faults := problem.Fields{}
		if !b.own.Has(u.ElementID) {
			faults.Add("key", problem.NotAdministered)
		}
		if u.Erased {
			faults.Add("key", erasure.Refused)
		}
		noMore(*u, p, faults)
		b.checkReach(row, *u, faults)
		maps.Copy(faults, row.apply(u, b))
		noMore(*u, p, faults)
		return record.Invalid(*u, faults)
	})
	switch {
	case errors.Is(err, ErrUUIDTaken), errors.Is(err, ErrEmailTaken):
		return record.Invalid(stored, takenField(err))
	}
	return ofRow(stored, err)
}

// demote is the check of changeRow, in a dry run, for a row by which an active administrator ceases to be one.
func (s *Service) demote(ctx context.Context, id int64, b *importBatch) error {
	if b.promotes {
		return nil
	}
	err := s.checkOtherAdministrators(ctx, append(b.demoted, id)...)
	if err == nil {
		b.demoted = append(b.demoted, id)
	}
	return err
}

// ofRow makes the Conflict for the last active administrator a fault of the row.
func ofRow(stored User, err error) error {
	if problem.Is(err, problem.Conflict) {
		return record.Invalid(stored, problem.Fields{"admin": {problem.As(err).Message}})
	}
	return err
}

// emailOfAnother is the fault of a row with the address of another active user.
const emailOfAnother = "belongs to another active user; duplicate_email allows it"

// takenField returns the fault of a row whose key, uuid or address another user has got since the batch was read.
func takenField(err error) problem.Fields {
	switch {
	case errors.Is(err, ErrKeyTaken):
		return problem.Fields{"key": {problem.Taken}}
	case errors.Is(err, ErrEmailTaken):
		return problem.Fields{"email": {emailOfAnother}}
	}
	return problem.Fields{"uuid": {problem.Taken}}
}
