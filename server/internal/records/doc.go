// Package records keeps the resources of a service of AWS as named records of a store, and reads lists in pages.
package records
