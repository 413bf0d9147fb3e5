// Package interop tests the pages of the console as a person sees them: in Chromium, served by `ebb serve`.
package interop
