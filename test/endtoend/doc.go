// Package endtoend tests Belfry as a whole. All services run as in production, and the tests check from outside what
// depends on several of them: one request is one trace and asks stores and neighbours as often as its budget says, no
// secret is visible, the README's walk works, and no acknowledged write is lost when a process is killed.
package endtoend
