package main

import "time"

// aim is what was measured of a call before its round trips were counted and the directory was kept in memory, and
// what it should come to: requests a second with 16 clients, and the median time of one client. 0: there is none.
type aim struct {
	call            string
	firstRate, rate float64
	firstP50, p50   time.Duration
}

// aims are of a school of 1,000 pupils and five years, on two processors that have the stores and the load on them.
var aims = []aim{
	{call: whoami, firstRate: 4590, firstP50: 500 * time.Microsecond},
	{call: elementDetail, firstRate: 1330, rate: 3500, firstP50: 2200 * time.Microsecond, p50: 800 * time.Microsecond},
	{call: byName, firstRate: 1190, rate: 3000, firstP50: 2600 * time.Microsecond, p50: 900 * time.Microsecond},
	{call: nameLike, firstRate: 590, rate: 1200, firstP50: 3600 * time.Microsecond, p50: 1800 * time.Microsecond},
	{call: day, firstRate: 244, rate: 1500, firstP50: 10100 * time.Microsecond, p50: 1800 * time.Microsecond},
	{call: week, firstRate: 132, rate: 900, firstP50: 14700 * time.Microsecond, p50: 3 * time.Millisecond},
	{call: year, firstRate: 29, rate: 100, firstP50: 70 * time.Millisecond, p50: 20 * time.Millisecond},
	{call: eventDetail, firstRate: 540, rate: 2000, firstP50: 4400 * time.Microsecond, p50: 1300 * time.Microsecond},
	{call: eventNotes, firstRate: 680, rate: 2000, firstP50: 2900 * time.Microsecond, p50: 1300 * time.Microsecond},
	{call: create, firstRate: 259, rate: 700, firstP50: 6400 * time.Microsecond, p50: 3 * time.Millisecond},
	{call: login, rate: 1500, firstP50: 3900 * time.Microsecond, p50: 1500 * time.Microsecond},
}

const (
	aimClients   = 16 // of the rates
	mostTail     = 4  // times p50 that p99 may be, with so many clients
	mostGrowth   = 1.2
	mostImport   = 100 * time.Second
	mostImporter = 100 << 20 // bytes of belfryctl
	mostIdle     = 40 << 20  // bytes of a service
	mostLoaded   = 200 << 20
	mostStart    = 300 * time.Millisecond // from exec to ready
)

func aimOf(call string) aim {
	for _, a := range aims {
		if a.call == call {
			return a
		}
	}
	return aim{}
}
