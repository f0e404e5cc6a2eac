// Package endtoend holds the tests of Belfry as a whole: all four services run as they are in production, and what
// no one service can promise alone is checked from outside. One request is one trace, no secret shows anywhere, the
// README's walk works, and nothing that was acknowledged is lost when a process is killed.
package endtoend
