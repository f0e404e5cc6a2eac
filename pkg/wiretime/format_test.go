package wiretime_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

func TestTimesAreWrittenWithThousandthsAndAnOffset(t *testing.T) {
	zones := map[string]wiretime.Zone{"UTC": {}}
	for _, name := range []string{"Europe/London", "Pacific/Apia", "Asia/Kathmandu", "America/St_Johns"} {
		zone, err := wiretime.LoadZone(name)
		errortest.None(t, err)
		zones[name] = zone
	}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1<<37, 1<<39).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		for name, zone := range zones {
			location, err := time.LoadLocation(name)
			errortest.None(t, err)
			want := at.In(location).Format("2006-01-02T15:04:05.000-07:00")
			valuetest.MustSame(t, zone.Format(at), want, name)
		}
	})
}
