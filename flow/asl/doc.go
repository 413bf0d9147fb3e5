// Package asl is the Amazon States Language.
package asl
