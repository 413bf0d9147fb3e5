// Package jobstest is the suite of tests that every board of jobs passes.
package jobstest
