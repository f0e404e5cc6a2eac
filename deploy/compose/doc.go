// Package compose has the files for a trial with Docker Compose, and the tests of them.
package compose
