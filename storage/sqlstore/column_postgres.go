package sqlstore

import (
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// A column is one argument of many statements that are sent as one, an array. It is
// written where it is sent from, without arrays in between: what many runs write is
// most of what is allocated for them.
type column struct {
	all []queued
	i   int // which argument
	of  *columnType
}

// A columnType is what the elements of an array are.
type columnType struct {
	array, element uint32 // the type's numbers on the server
	// append appends an element, or reports that it is NULL.
	append func(buf []byte, arg any) (out []byte, null bool)
}

// columnTypes are those that statements have.
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

// whole returns an argument that is a whole number, 0 for none.
func whole(arg any) uint64 {
	switch arg := arg.(type) {
	case nil:
		return 0
	case int64:
		return uint64(arg) // as it is stored: in two's complement
	case int:
		return uint64(arg)
	default: // a state
		return reflect.ValueOf(arg).Uint()
	}
}

// takeColumns lets a connection take columns for arrays.
func takeColumns(_ context.Context, conn *pgx.Conn) error {
	types := conn.TypeMap()
	for _, of := range columnTypes {
		known, ok := types.TypeForOID(of.array)
		if !ok {
			return errDriver
		}
		types.RegisterType(&pgtype.Type{Name: known.Name, OID: known.OID, Codec: columnCodec{known.Codec}})
	}
	return nil
}

// columnCodec writes columns, and leaves all else to the driver.
type columnCodec struct{ pgtype.Codec }

// PlanEncode implements pgtype.Codec.
func (c columnCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, is := value.(column); is {
		if format != pgtype.BinaryFormatCode {
			return nil
		}
		return columnPlan{}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type columnPlan struct{}

var errNoColumn = errors.New("sqlstore: not a column")

// Encode implements pgtype.EncodePlan. The first column allocates space for all.
func (columnPlan) Encode(value any, buf []byte) ([]byte, error) {
	c, is := value.(column)
	if !is {
		return nil, errNoColumn
	}
	if c.i == 0 {
		buf = slices.Grow(buf, sizeOf(c.all))
	}
	for _, header := range [...]uint32{1, 1, c.of.element, uint32(len(c.all)), 1} { // one dimension, with NULLs perhaps, numbered from 1
		buf = binary.BigEndian.AppendUint32(buf, header)
	}
	for i := range c.all {
		at := len(buf)
		out, null := c.of.append(append(buf, 0, 0, 0, 0), c.all[i].args[c.i])
		size := uint32(len(out) - at - 4)
		if null {
			out, size = out[:at+4], ^uint32(0)
		}
		binary.BigEndian.PutUint32(out[at:], size)
		buf = out
	}
	return buf, nil
}

// sizeOf returns about as many bytes as the arrays of all arguments take.
func sizeOf(all []queued) int {
	n := 0
	for i := range all {
		for _, arg := range all[i].args {
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
	return n + 20*len(all[0].args)
}
