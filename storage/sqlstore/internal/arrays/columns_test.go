package arrays

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/ebbflow/ebb/states"
)

// TestColumns: columns are written as the driver writes arrays of the same.
func TestColumns(t *testing.T) {
	t.Parallel()
	one, most := int64(1), int64(-1<<63)
	types := pgtype.NewMap()
	for name, c := range map[string]struct {
		args  []any
		array any
	}{
		"bigint":   {[]any{int64(1), nil, most, 1}, []*int64{&one, nil, &most, &one}},
		"smallint": {[]any{states.FlowSuccess, 3, uint8(7)}, []int16{int16(states.FlowSuccess), 3, 7}},
		"boolean":  {[]any{true, false}, []bool{true, false}},
		"text":     {[]any{"a", "", "größer"}, []string{"a", "", "größer"}},
		"bytea":    {[]any{[]byte("a"), []byte(nil), nil, []byte{}}, [][]byte{[]byte("a"), nil, nil, {}}},
	} {
		of := columnTypes[name]
		rows := make([][]any, len(c.args))
		for i, arg := range c.args {
			rows[i] = []any{arg}
		}
		want, err := types.Encode(of.array, pgtype.BinaryFormatCode, c.array, []byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := columnPlan{of}.Encode(column{rows: rows}, []byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		want[len("before")+7] = 1 // the driver says whether there are NULLs, which does no harm
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
	}
}
