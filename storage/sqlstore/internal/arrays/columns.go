// Package arrays encodes the arguments of many rows as PostgreSQL arrays, without Go arrays in between. These
// arguments are most of the memory that many runs allocate.
package arrays

import (
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// A column is one argument of many rows.
type column struct {
	rows [][]any
	i    int // index of the argument
}

// Columns returns the arguments of a statement that writes many rows: one array for each argument of a row. The
// caller must not change the rows before the statement is sent.
func Columns(rows [][]any) []any {
	out := make([]any, len(rows[0]))
	for i := range out {
		out[i] = column{rows, i}
	}
	return out
}

// A columnType describes the elements of an array.
type columnType struct {
	array, element uint32 // object ids of the types on the server
	// append appends an element, or reports that it is NULL.
	append func(buf []byte, arg any) (out []byte, null bool)
}

// columnTypes contains the types that statements use.
var columnTypes = map[string]*columnType{
	"bigint": {pgtype.Int8ArrayOID, pgtype.Int8OID, func(buf []byte, arg any) ([]byte, bool) {
		return binary.BigEndian.AppendUint64(buf, whole(arg)), arg == nil
	}},
	"smallint": {pgtype.Int2ArrayOID, pgtype.Int2OID, func(buf []byte, arg any) ([]byte, bool) {
		return binary.BigEndian.AppendUint16(buf, uint16(whole(arg))), arg == nil
	}},
	"boolean": {pgtype.BoolArrayOID, pgtype.BoolOID, func(buf []byte, arg any) ([]byte, bool) {
		if is, _ := arg.(bool); is {
			return append(buf, 1), false
		}
		return append(buf, 0), false
	}},
	"text": {pgtype.TextArrayOID, pgtype.TextOID, func(buf []byte, arg any) ([]byte, bool) {
		text, _ := arg.(string)
		return append(buf, text...), false
	}},
	"bytea": {pgtype.ByteaArrayOID, pgtype.ByteaOID, func(buf []byte, arg any) ([]byte, bool) {
		data, _ := arg.([]byte)
		return append(buf, data...), data == nil
	}},
}

// whole returns the bits of an argument that is an integer; 0 for nil.
func whole(arg any) uint64 {
	switch arg := arg.(type) {
	case nil:
		return 0
	case int64:
		return uint64(arg) // two's complement, as PostgreSQL stores it
	case int:
		return uint64(arg)
	default: // a state, whose underlying type is an integer
		return reflect.ValueOf(arg).Uint()
	}
}

// Register registers the encoding of columns on a connection.
func Register(_ context.Context, conn *pgx.Conn) error {
	types := conn.TypeMap()
	for _, of := range columnTypes {
		known, ok := types.TypeForOID(of.array)
		if !ok {
			return errType
		}
		types.RegisterType(&pgtype.Type{Name: known.Name, OID: known.OID, Codec: columnCodec{known.Codec, of}})
	}
	return nil
}

// columnCodec encodes columns, and leaves all other values to the driver.
type columnCodec struct {
	pgtype.Codec
	of *columnType
}

// PlanEncode implements pgtype.Codec.
func (c columnCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, is := value.(column); is {
		if format != pgtype.BinaryFormatCode {
			return nil
		}
		return columnPlan{c.of}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type columnPlan struct{ of *columnType }

var (
	errNoColumn = errors.New("sqlstore: not a column")
	errType     = errors.New("sqlstore: the driver does not know a type of PostgreSQL: check the driver's version")
)

// Encode implements pgtype.EncodePlan. The first column allocates space for all columns.
func (p columnPlan) Encode(value any, buf []byte) ([]byte, error) {
	c, is := value.(column)
	if !is {
		return nil, errNoColumn
	}
	if c.i == 0 {
		buf = slices.Grow(buf, sizeOf(c.rows))
	}
	for _, header := range [...]uint32{1, 1, p.of.element, uint32(len(c.rows)), 1} {
		// one dimension, may contain NULLs, indexes start at 1
		buf = binary.BigEndian.AppendUint32(buf, header)
	}
	for i := range c.rows {
		at := len(buf)
		out, null := p.of.append(append(buf, 0, 0, 0, 0), c.rows[i][c.i])
		size := uint32(len(out) - at - 4)
		if null {
			out, size = out[:at+4], ^uint32(0)
		}
		binary.BigEndian.PutUint32(out[at:], size)
		buf = out
	}
	return buf, nil
}

// sizeOf estimates the size in bytes of the arrays of all arguments.
func sizeOf(rows [][]any) int {
	n := 0
	for _, row := range rows {
		for _, arg := range row {
			n += 4
			switch arg := arg.(type) {
			case []byte:
				n += len(arg)
			case string:
				n += len(arg)
			case nil:
			default:
				n += 8
			}
		}
	}
	return n + 20*len(rows[0])
}
