package user

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// MaxTokens bounds the tokens of a user that have not expired.
	MaxTokens    = 20
	maxTokenName = 100
	// Bounds of the last day of a token, counted from today.
	mostTokenDays    = 400
	defaultTokenDays = 90
)

// TokenType names tokens in answers.
const TokenType = "Token"

// Token lets programs act as a user, within its scope, without a session.
type Token struct {
	ID        int64                `bson:"id"`
	Name      string               `bson:"name"` // several may have the same
	Scope     principal.TokenScope `bson:"scope"`
	ElementID int64                `bson:"element_id,omitempty"` // that of principal.ReadElement
	Hash      string               `bson:"hash"`                 // as of a uuid; the token itself is stored nowhere
	Created   time.Time            `bson:"created"`
	Ends      time.Time            `bson:"ends"` // exclusive
	Used      time.Time            `bson:"-"`    // last, to the hour; zero: never
}

// Principal is the token as requests have it.
func (t Token) Principal() principal.Token {
	return principal.Token{ID: t.ID, Name: t.Name, Scope: t.Scope, ElementID: t.ElementID}
}

func (u User) tokenHashes() []string {
	return sequence.Map(u.Tokens, func(t Token) string { return t.Hash })
}

// liveTokens are the tokens that have not expired.
func (u User) liveTokens(now time.Time) []Token {
	return slices.DeleteFunc(slices.Clone(u.Tokens), func(t Token) bool { return !t.Ends.After(now) })
}

// TokenEdit is what a request says about a new token.
type TokenEdit struct {
	Name, Scope, EndDate *string // EndDate is the last day
	ElementID            *int64
	Faults               problem.Fields // of fields that could not be read
}

// token returns the token that a request asks for on a day, without id and hash, and what is wrong with it.
func (e TokenEdit) token(now time.Time, zone wiretime.Zone) (Token, problem.Fields) {
	t := Token{
		Name: strings.TrimSpace(form.OrZero(e.Name)), Scope: principal.TokenScope(form.OrZero(e.Scope)),
		ElementID: form.OrZero(e.ElementID), Created: now.UTC().Truncate(time.Second),
	}
	faults := e.Faults
	problem.Text{Most: maxTokenName, Required: true}.Check(faults, "name", t.Name)
	if !slices.Contains(principal.TokenScopes(), t.Scope) && len(faults["scope"]) == 0 {
		faults.Add("scope", problem.NotIncluded)
	}
	switch ofOne := t.Scope == principal.ReadElement; {
	case len(faults["element_id"]) > 0:
	case ofOne && t.ElementID == 0:
		faults.Add("element_id", problem.Blank)
	case !ofOne && t.ElementID != 0:
		faults.Add("element_id", "is only for the scope read_element")
	}
	today := zone.DayOf(now)
	last := today.AddDays(defaultTokenDays)
	if end := form.OrZero(e.EndDate); end != "" {
		var err error
		switch last, err = wiretime.ParseDay(end); {
		case err != nil:
			faults.Add("end_date", problem.NotADay)
		case last < today || last > today.AddDays(mostTokenDays):
			faults.Add("end_date", "must be from "+today.String()+" to "+today.AddDays(mostTokenDays).String())
		}
	}
	t.Ends = zone.Midnight(last.AddDays(1)).UTC()
	return t, faults
}

// CreateToken makes a token of a user, p itself or one that p administers, and returns it with its text, which is not
// shown again; a dry run has neither id nor text. NotFound; Forbidden when the user is not p's or may do what p may
// not, while p is switched, and by a token; AccessDenied when p's session is about to end; a record.InvalidError of the
// token; Conflict when the user has MaxTokens, and when it is not active.
func (s *Service) CreateToken(
	ctx context.Context, p principal.Principal, userID int64, e TokenEdit,
) (Token, string, error) {
	if p.Switched() || p.Token.ID != 0 {
		return Token{}, "", forbidden()
	}
	if err := s.MayHaveTokens(ctx, p, userID); err != nil {
		return Token{}, "", err
	}
	now := time.Now()
	t, faults := e.token(now, s.Zone)
	if err := s.checkElement(ctx, t.ElementID, faults); err != nil {
		return Token{}, "", err
	}
	if err := record.Invalid(t, faults); err != nil {
		return Token{}, "", err
	}
	text := ""
	if !record.IsDryRun(ctx) {
		var err error
		if t.ID, err = s.Store.NewTokenID(ctx); err != nil {
			return Token{}, "", err
		}
		text = principal.TokenPrefix + rand.Text() + rand.Text()
		t.Hash = HashUUID(text)
	}
	u, err := s.change(ctx, userID, func(u *User) error {
		live := u.liveTokens(now)
		switch {
		case u.ID == p.UserID && p.Version < u.SessionsSince:
			return problem.New(problem.AccessDenied, "")
		case !p.Permissions.Admin && u.ID != p.UserID && !hasNoMore(*u, p):
			return forbidden()
		case !u.Active:
			return problem.New(problem.Conflict, "the user is not active")
		case len(live) >= MaxTokens:
			return problem.New(problem.Conflict, "there are %d tokens already: end one of them", MaxTokens)
		case record.IsDryRun(ctx):
			return record.ErrUnchanged
		}
		u.Tokens = append(live, t)
		return nil
	})
	if err == nil {
		err = s.forgetUses(ctx, u)
	}
	return t, text, err
}

// MayHaveTokens returns NotFound, and Forbidden, unless the user is p itself or one as whom p may act: then p may be
// shown its new tokens.
func (s *Service) MayHaveTokens(ctx context.Context, p principal.Principal, userID int64) error {
	if userID == p.UserID {
		return nil
	}
	return s.MayHandOver(ctx, p, userID)
}

// checkElement adds a fault when the element of a token does not exist.
func (s *Service) checkElement(ctx context.Context, id int64, faults problem.Fields) error {
	if id == 0 || len(faults["element_id"]) > 0 {
		return nil
	}
	found, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{id}})
	if err == nil && len(found) == 0 {
		faults.Add("element_id", problem.MustExist)
	}
	return err
}

// ListTokens returns the tokens of a user, p itself or one that p administers, that have not expired, in order of id.
// NotFound, Forbidden.
func (s *Service) ListTokens(ctx context.Context, p principal.Principal, userID int64) ([]Token, error) {
	var u User
	var err error
	if userID == p.UserID {
		u, err = s.Store.Get(ctx, userID)
		err = missing(err, userID)
	} else {
		u, err = s.Get(ctx, p, userID)
	}
	if err != nil {
		return nil, err
	}
	tokens := u.liveTokens(time.Now())
	slices.SortFunc(tokens, func(a, b Token) int { return int(a.ID - b.ID) })
	ids := sequence.Map(tokens, func(t Token) int64 { return t.ID })
	used, err := s.Store.LastUses(ctx, ids)
	for i := range tokens {
		tokens[i].Used = used[tokens[i].ID]
	}
	return tokens, err
}

// EndToken ends a token of a user, p itself or one that p administers, before it returns. NotFound when the user has no
// such token that has not expired; Forbidden when the user is not p's or may do what p may not.
func (s *Service) EndToken(ctx context.Context, p principal.Principal, userID, id int64) error {
	now := time.Now()
	end := func(u *User) error {
		rest := slices.DeleteFunc(slices.Clone(u.Tokens), func(t Token) bool { return t.ID == id && t.Ends.After(now) })
		if len(rest) == len(u.Tokens) {
			return problem.Missing(TokenType, id)
		}
		u.Tokens = rest
		return nil
	}
	var u User
	var err error
	if userID == p.UserID {
		u, err = s.change(ctx, userID, end)
	} else {
		u, err = s.changeAdministered(ctx, p, userID, nil, end)
	}
	if err != nil {
		return err
	}
	return s.forgetUses(ctx, u)
}

// forgetUses deletes the uses of tokens that the user no longer has, in a dry run none.
func (s *Service) forgetUses(ctx context.Context, u User) error {
	if record.IsDryRun(ctx) {
		return nil
	}
	ids := sequence.Map(u.Tokens, func(t Token) int64 { return t.ID })
	return s.Store.ForgetUses(ctx, u.ID, ids)
}

// OpenToken returns the token with that hash, and its user, for a request from that address. Errors as for Login.
func (s *Service) OpenToken(ctx context.Context, hash, address string) (User, Token, error) {
	u, exists, err := s.byToken.find(ctx, hash)
	if err != nil {
		return User{}, Token{}, err
	}
	if exists && u.MayLogIn() {
		for _, t := range u.liveTokens(time.Now()) {
			if t.Hash == hash {
				return u, t, nil
			}
		}
	}
	return User{}, Token{}, s.CountFailure(ctx, address, problem.New(problem.AccessDenied, ""))
}
