package wiretime

import "fmt"

// DateOrder says in which order a date with slashes, such as 1/4/2019, has its day and month. The zero value is none:
// then there are no such dates, and an hour has two digits.
type DateOrder int

// The orders.
const (
	ISO           DateOrder = iota // YYYY-MM-DD alone
	DayMonthYear                   // 1/4/2019 is the first of April
	MonthDayYear                   // 1/4/2019 is the fourth of January
	countOfOrders                  // no order
)

var orderNames = [countOfOrders]string{"iso", "dmy", "mdy"}

// UnmarshalText makes DateOrder a setting: dmy, mdy or iso.
func (o *DateOrder) UnmarshalText(text []byte) error {
	for order, name := range orderNames {
		if string(text) == name {
			*o = DateOrder(order)
			return nil
		}
	}
	return fmt.Errorf("%q is not dmy, mdy or iso", text)
}

// String returns the setting's text.
func (o DateOrder) String() string { return orderNames[o] }
