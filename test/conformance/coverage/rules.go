package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// rule is one sentence of the contract, of the decisions or of administration that can be kept or broken.
type rule struct {
	id, text string // "4.2 rule 5", and what it says
	silent   bool   // it promises nothing
	proofs   []test
}

// part returns the part of a rule: "4.2", "decisions 2", "administration".
func part(id string) string { return ofRule.FindString(id) }

var ofRule = regexp.MustCompile(`^(decisions \S+|\S+)`)

// promiseNothing are the rules with nothing to check: the contract says "not shown". A decision about one, if any, is a
// rule of its own.
var promiseNothing = []string{
	"2.1 other types: detail fields of other types: not shown; see decisions 3",
	"2.3 owner fields: fields of owner and organiser: not shown; see decisions 4",
	"2.7 flags: the meaning of each flag: not shown",
	"3.1 decision: the operation of a decision, and other moves: not shown; see decisions 5",
	"3.2 allocation: the operation of allocating: not shown; see decisions 5",
	"4.1 rule 3: a search by neither parameter: not shown; see decisions 3",
	"4.1 rule 10: requests of other types than resource groups: not shown; see decisions 3",
	"4.2 spelling: which spelling of the category is accepted: not shown; see decisions 4",
	"4.2 rule 13: the path of deleting a request: not shown; see decisions 5",
	"4.2 rule 14: removing an element by any other call: not shown",
	"5 rule 12: cookie name and lifetime: not shown; see decisions 2",
	"6 notifications: channel and payload of outbound notifications: not shown",
	"7.3 codes: other HTTP codes: not shown; see decisions 1",
	"8 other limits: rate and size limits: not shown; see decisions 1 and 2",
	"9 versioning: versioning: not shown",
}

// provedInside are the rules that a test of a package proves: a client cannot see them without disturbing others.
var provedInside = map[string]string{
	"decisions 1 409 race: a lost race that can't be merged: 409": "" +
		"TestUpdate_GivesUpWithAConflictWhenOthersKeepWinning",
	"decisions 1 500 and 503: a fault, or a store or neighbour that is away: never half an answer": "" +
		"TestDecisionsPart1_EventsAwayIsUnavailableAndNeverHalfAnAnswer",
	"decisions 2 store: the store keys a session by its SHA-256": "TestSecretsAreNeitherLoggedNorStored",
	"decisions 2 expiry: idle 2 h, absolute 12 h":                "TestDecisionsPart2_IdleAndAbsoluteEnd",
	"decisions 2 limit address: one address of IPv6 is one /64":  "TestHardToBreak_Row05_ASixtyFourIsOneAddress",
	"decisions 2 limit network: a hundred failed logins in a minute from one /48: 429 for further wrong ones " +
		"there": "" +
		"TestHardToBreak_Row05_AHundredFailuresFromOneNetworkRefuseFurtherOnesThereAlone",
	"decisions 2 limit right uuid": "TestHardToBreak_Row05_ALoopOfWrongLoginsRefusesNoRightOneBesideIt",
	"decisions 2 limit wrong alone: only logins that were answered as wrong count, not those in progress": "" +
		"TestHardToBreak_Row05_OnlyWhatWasAnsweredAsWrongCounts",
	"decisions 2 limit over all: there is no limit over the whole deployment": "" +
		"TestHardToBreak_Row05_ThereIsNoLimitOverTheDeployment",
	"decisions 6 parent: parent shows the event as the caller sees it: Busy where it is hidden": "" +
		"TestDecisionsPart6_TheParentOfANoteIsTheEventAsTheCallerSeesIt",
	"decisions 9 hidden pages: what is hidden changes neither answers nor cursors, nor how many reads a search " +
		"makes": "TestDecisionsPart9_ASearchReadsAndTellsTheSameWhateverIsHidden",
	"decisions 9 hidden series: what a series leaves out depends only on events that its maker sees, and it names no " +
		"others": "TestDecisionsPart9_ASeriesLooksOnlyAtEventsThatItsMakerSees",
	"administration access: GET /api/admin/access: who read whose detail or timetable, as which user, when and from " +
		"where": "TestAdministration_WhoHasLookedAtWhom",
	"administration first administrator: made when there is no user and BOOTSTRAP_ADMIN_UUID is set, with all " +
		"permissions": "TestAdministration_TheFirstAdministratorIsMadeOnce",
}

// parts has how many rules each part has, in the order of the documents. A rule that no test states is missing there.
var parts = []struct {
	name  string
	rules int
}{
	{"1", 3}, {"2.1", 7}, {"2.2", 5}, {"2.3", 8}, {"2.4", 2}, {"2.5", 5}, {"2.6", 1}, {"2.7", 3}, {"2.8", 6},
	{"3.1", 9}, {"3.2", 2}, {"3.3", 8}, {"4.1", 15}, {"4.2", 32}, {"4.3", 10}, {"4.4", 3}, {"4.5", 7}, {"5", 13},
	{"6", 1}, {"7.1", 6}, {"7.2", 3}, {"7.3", 3}, {"8", 2}, {"9", 1}, {"decisions 1", 37}, {"decisions 2", 38},
	{"decisions 3", 31}, {"decisions 4", 45}, {"decisions 5", 16}, {"decisions 6", 13}, {"decisions 7", 4},
	{"decisions 8", 4}, {"decisions 9", 14}, {"administration", 27}, {"clients", 47},
}

// collect returns the rules that the checks and the lists above state, in the order of parts and ids. The error says
// which are not stated, or twice, and what states rules that there are not.
func collect(checks []check, tests []test) ([]rule, error) {
	all := map[string]*rule{}
	var faults []error
	state := func(stated string) *rule {
		id, text, _ := strings.Cut(stated, ": ")
		if all[id] == nil {
			all[id] = &rule{id: id}
		}
		if text != "" && all[id].text != "" {
			faults = append(faults, fmt.Errorf("%s has its text twice", id))
		}
		all[id].text = cmp.Or(all[id].text, text)
		return all[id]
	}
	for _, c := range checks {
		for _, stated := range c.rules {
			r := state(stated)
			r.proofs = append(r.proofs, c.test)
		}
	}
	for stated, name := range provedInside {
		i := slices.IndexFunc(tests, func(t test) bool { return t.Name == name })
		if i < 0 {
			faults = append(faults, fmt.Errorf("%s is proved by %s, which does not exist", stated, name))
			continue
		}
		r := state(stated)
		r.proofs = append(r.proofs, tests[i])
	}
	for _, stated := range promiseNothing {
		r := state(stated)
		if r.silent = true; len(r.proofs) > 0 {
			faults = append(faults, fmt.Errorf("%s is proved, and should not say otherwise", stated))
		}
	}
	var rules []rule
	for _, p := range parts {
		var these []rule
		for id, r := range all {
			if part(id) != p.name {
				continue
			}
			if r.text == "" {
				faults = append(faults, fmt.Errorf("no test says what %s is", id))
			}
			for _, t := range tests {
				if t.names(id) && !slices.Contains(r.proofs, t) {
					r.proofs = append(r.proofs, t)
				}
			}
			these = append(these, *r)
			delete(all, id)
		}
		if len(these) != p.rules {
			faults = append(faults, fmt.Errorf("part %s has %d rules that a test states, not %d", p.name, len(these),
				p.rules))
		}
		slices.SortFunc(these, func(a, b rule) int { return strings.Compare(sortable(a.id), sortable(b.id)) })
		rules = append(rules, these...)
	}
	for id := range all {
		faults = append(faults, fmt.Errorf("%s is a rule of no part", id))
	}
	return rules, errors.Join(faults...)
}

// sortable returns an id in which numbers have the same length.
func sortable(id string) string {
	return regexp.MustCompile(`\d+`).ReplaceAllStringFunc(id, func(n string) string { return fmt.Sprintf("%03s", n) })
}
