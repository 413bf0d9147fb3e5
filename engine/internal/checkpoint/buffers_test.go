package checkpoint

import (
	"reflect"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
)

// TestEmpty fills every field of a checkpoint there is, and looks whether anything
// is left once it was emptied: a field that is forgotten would be committed again
// with the next step.
func TestEmpty(t *testing.T) {
	var cp backend.Checkpoint
	all := reflect.ValueOf(&cp).Elem()
	for i := range all.NumField() {
		switch f := all.Field(i); f.Kind() {
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.String:
			f.SetString("x")
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Struct:
			cp.Head.Seq = 1
		default:
			t.Fatalf("no value for a %v", f.Kind())
		}
		if all.Field(i).IsZero() {
			t.Fatalf("%s is not filled", all.Type().Field(i).Name)
		}
	}
	cp.Atoms[0].Path, cp.History[0].Path = "a", "a"
	empty(&cp)
	for i := range all.NumField() {
		if f := all.Field(i); f.Kind() == reflect.Slice && f.Len() > 0 || f.Kind() != reflect.Slice && !f.IsZero() {
			t.Errorf("%s is still there", all.Type().Field(i).Name)
		}
	}
	if a, e := extend(&cp.Atoms), extend(&cp.History); a.Path != "" || e.Path != "" {
		t.Errorf("what is added begins as %q and %q", a.Path, e.Path)
	}
}
