// Package chart tests charts/belfry: what it renders, with both kinds of Helm, and which values it refuses. It needs
// no cluster; test/cluster tests with one. .ci/chart fetches the tools of the tests.
package chart
