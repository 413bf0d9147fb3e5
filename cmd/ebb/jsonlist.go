package main

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
)

// A jsonList is a member of an object of JSON that is written while it is found: it may be
// larger than memory.
type jsonList struct {
	name string
	fill func(add func(item any) error) error // calls add with each item
}

// listOf returns a list of what is read; failed returns the error that has the exit status.
func listOf[T any](name string, items iter.Seq2[T, error], failed func(error) error) jsonList {
	return jsonList{name, func(add func(item any) error) error {
		for item, err := range items {
			if err != nil {
				return failed(err)
			}
			if err := add(item); err != nil {
				return err
			}
		}
		return nil
	}}
}

// streamJSON writes an object of at least one member, and behind its members the lists.
// Nothing is written before the first item of the first list is known, or that there is none.
func streamJSON(out io.Writer, object any, lists ...jsonList) error {
	text, err := encoded(object)
	if err != nil {
		return err
	}
	text = bytes.TrimSuffix(text, []byte("}"))
	for _, list := range lists {
		text = fmt.Appendf(text, ",%q:[", list.name)
		first := true
		err := list.fill(func(item any) error {
			next, err := encoded(item)
			if err != nil {
				return err
			}
			if !first {
				text = append(text, ',')
			}
			first = false
			_, err = out.Write(append(text, next...))
			text = text[:0]
			return err
		})
		if err != nil {
			return err
		}
		text = append(text, ']')
	}
	_, err = out.Write(append(text, "}\n"...))
	return err
}

// encoded returns JSON without the line break behind it.
func encoded(v any) ([]byte, error) {
	var text bytes.Buffer
	err := view.NewJSON(&text).Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
