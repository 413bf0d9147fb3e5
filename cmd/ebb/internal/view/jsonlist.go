package view

import (
	"bytes"
	"fmt"
	"io"
	"iter"
)

// A JSONList is a member of a JSON object that is written while it is read, because it may be larger than memory.
type JSONList struct {
	name string
	fill func(add func(item any) error) error // calls add with each item
}

// ListOf returns a list of items as they are read; failed returns the error with the exit status.
func ListOf[T any](name string, items iter.Seq2[T, error], failed func(error) error) JSONList {
	return JSONList{name, func(add func(item any) error) error {
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

// StreamJSON writes an object with at least one member, followed by the lists as members. It writes nothing before
// the first item of the first list was read.
func StreamJSON(out io.Writer, object any, lists ...JSONList) error {
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

// encoded returns JSON without the line break after it.
func encoded(v any) ([]byte, error) {
	var text bytes.Buffer
	err := NewJSON(&text).Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
