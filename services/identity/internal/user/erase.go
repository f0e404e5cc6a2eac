package user

import (
	"context"
	"fmt"
	"slices"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/record"
)

// usersAtOnce is the number of users in a step of an erasure.
const usersAtOnce = 200

// Answers keeps the answers to users, for a day.
type Answers interface {
	// Erase drops those of a user's answers in whose body something is found, and returns how many.
	Erase(ctx context.Context, userID int64, in func(body []byte) bool) (int, error)
}

// EraseUsers is the part of an erasure that ends the person's users and removes their names and addresses. They can
// never log in again, and have no permissions. Conflict for the last active administrator.
func (s *Service) EraseUsers(p erasure.Person) erasure.Part {
	return func(ctx context.Context, _ string) (next string, changed int, err error) {
		salt, err := s.Store.ErasureSalt(ctx)
		if err != nil {
			return "", 0, err
		}
		users, err := s.Store.List(ctx, Filter{Elements: []int64{p.ElementID}, Limit: usersAtOnce})
		if err != nil {
			return "", 0, err
		}
		for _, u := range users {
			if u.Erased {
				continue
			}
			if _, err := s.change(ctx, u.ID, func(u *User) error {
				if u.Erased {
					return record.ErrUnchanged
				}
				u.erase(p.Instead, salt)
				return nil
			}); err != nil {
				return "", changed, err
			}
			if err := s.Store.ForgetUses(ctx, u.ID, nil); err != nil {
				return "", changed, err
			}
			changed++
		}
		return "", changed, nil
	}
}

// erasedDomain is that of the addresses of erased users: no mail can be sent there (RFC 2606).
const erasedDomain = "@erased.invalid"

func (u *User) erase(instead, salt string) {
	u.Name, u.Email = instead, fmt.Sprintf("user-%d%s", u.ID, erasedDomain)
	if u.Key != "" {
		u.Key, u.ImportHash = erasure.Key(salt, u.Key), ""
	}
	kept := User{
		ID: u.ID, Version: u.Version, Key: u.Key, Name: u.Name, Email: u.Email, Kind: u.Kind, ElementID: u.ElementID,
		FeedsSince: u.FeedsSince, UUIDHash: HashUUID(newUUID()), Erased: true,
	}
	*u = kept
	u.endSessions()
}

// EraseTexts is the part of an erasure that takes the person out of the names and keys of users without an element,
// such as "Carer of Zoe Abbott", of the names of all users' tokens, and of the pupils that users stand for. A user
// whose whole name is that of the person keeps it: it is a namesake.
func (s *Service) EraseTexts(p erasure.Person) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	return s.eachUser(func(ctx context.Context, u User) (int, error) {
		if !u.forget(texts, p) {
			return 0, nil
		}
		_, err := s.change(ctx, u.ID, func(u *User) error {
			if !u.forget(texts, p) {
				return record.ErrUnchanged
			}
			return nil
		})
		return 1, err
	})
}

// forget takes an erased person out of the pupils that a user stands for, out of the names of tokens, and out of the
// texts of a user without an element, and says whether that changed anything.
func (u *User) forget(texts *erasure.Texts, p erasure.Person) bool {
	changed := slices.Contains(u.StandsFor, p.ElementID)
	if changed {
		others := slices.DeleteFunc(slices.Clone(u.StandsFor), func(id int64) bool { return id == p.ElementID })
		u.StandsFor = inOrder(others)
	}
	u.Tokens = slices.Clone(u.Tokens)
	for i := range u.Tokens {
		if name, named := texts.Replace(u.Tokens[i].Name); named {
			u.Tokens[i].Name, changed = name, true
		}
	}
	name, named := texts.Replace(u.Name)
	if u.ElementID != 0 || named && name == p.Instead {
		return changed
	}
	key, keyed := texts.ReplaceKey(u.Key, u.ID)
	u.Name, u.Key = name, key
	return changed || named || keyed
}

// EraseAnswers is the part of an erasure that forgets the answers kept for repeated requests that name the person.
func (s *Service) EraseAnswers(p erasure.Person, answers Answers) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	return s.eachUser(func(ctx context.Context, u User) (int, error) { return answers.Erase(ctx, u.ID, texts.In) })
}

// eachUser is a part that goes through all users in order of id.
func (s *Service) eachUser(do func(ctx context.Context, u User) (changed int, err error)) erasure.Part {
	list := func(ctx context.Context, after int64, limit int) ([]User, error) {
		return s.Store.List(ctx, Filter{After: after, Limit: limit})
	}
	return erasure.ByID(usersAtOnce, list, func(u User) int64 { return u.ID }, do)
}
