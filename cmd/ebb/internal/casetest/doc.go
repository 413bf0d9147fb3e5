// Package casetest runs the cases of case files. A case plays a definition in virtual time, with mocks in place of its
// tasks, and compares what happened with what it expects. It counts which parts of the definition the cases go through,
// and reports results as text, JSON, JUnit and LCOV. It reads no clock but the one of the bubble in which a case runs.
package casetest
