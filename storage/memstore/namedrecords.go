package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// namedRecords contains the named records, by kind and key.
type namedRecords struct {
	kinds   map[string]map[string]storage.NamedRecord
	written int64 // largest revision given so far
}

// unchanged returns an error if one of the checks does not hold.
func (n *namedRecords) unchanged(checks []storage.RecordCheck) error {
	for i := range checks {
		if err := checks[i].Against(n.kinds[checks[i].Kind][checks[i].Key].Revision); err != nil {
			return err
		}
	}
	return nil
}

// apply applies a write that was checked, and returns the record.
func (n *namedRecords) apply(w *storage.RecordWrite, now time.Time) storage.NamedRecord {
	there := n.kinds[w.Kind][w.Key]
	switch {
	case w.Delete:
		delete(n.kinds[w.Kind], w.Key)
		return storage.NamedRecord{Kind: w.Kind, Key: w.Key}
	case w.Keep:
		return storage.NamedRecord{Kind: w.Kind, Key: w.Key, Revision: w.Was}
	}
	n.written++
	record := storage.NamedRecord{
		Kind: w.Kind, Key: w.Key, Revision: n.written, Created: there.Created, Updated: now, Body: slices.Clone(w.Body),
	}
	if there.Revision == 0 {
		record.Created = now
	}
	if n.kinds[w.Kind] == nil {
		n.kinds[w.Kind] = map[string]storage.NamedRecord{}
	}
	n.kinds[w.Kind][w.Key] = record
	return record
}

// WriteRecords implements [storage.NamedRecords.WriteRecords].
func (m *store) WriteRecords(ctx context.Context, writes ...storage.RecordWrite) ([]storage.NamedRecord, error) {
	if err := rules.CheckWrites(writes); err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if err := m.checkRevisions(writes); err != nil {
		return nil, err
	}
	now := time.Now().Truncate(time.Microsecond).UTC()
	var out []storage.NamedRecord
	for i := range writes {
		out = append(out, m.records.apply(&writes[i], now))
	}
	return out, nil
}

// checkRevisions returns why the writes of records cannot be applied now.
func (m *memory) checkRevisions(writes []storage.RecordWrite) error {
	for i := range writes {
		if err := rules.CheckRevision(&writes[i], m.records.kinds[writes[i].Kind][writes[i].Key].Revision); err != nil {
			return err
		}
	}
	return nil
}

// NamedRecord implements [storage.NamedRecords.NamedRecord].
func (m *store) NamedRecord(ctx context.Context, kind, key string) (storage.NamedRecord, error) {
	if err := m.enter(ctx); err != nil {
		return storage.NamedRecord{}, err
	}
	defer m.mu.Unlock()
	record, there := m.records.kinds[kind][key]
	if !there {
		return record, fmt.Errorf("%w: record %q of kind %q", storage.ErrNotFound, key, kind)
	}
	return record, nil
}

// NamedRecords implements [storage.NamedRecords.NamedRecords].
func (m *store) NamedRecords(ctx context.Context, q storage.RecordQuery) ([]storage.NamedRecord, error) {
	if err := backend.CheckRecordQuery(&q); err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	inOrder := func(a, b storage.NamedRecord) int {
		order := cmp.Compare(a.Key, b.Key)
		if q.ByTime {
			order = cmp.Or(a.Created.Compare(b.Created), order)
		}
		if q.Reverse {
			return -order
		}
		return order
	}
	var out []storage.NamedRecord
	space := codec.NewSpace(q.Limit)
	for _, r := range slices.SortedFunc(maps.Values(m.records.kinds[q.Kind]), inOrder) {
		if !strings.HasPrefix(r.Key, q.Prefix) || q.After != nil && inOrder(*q.After, r) >= 0 {
			continue
		}
		if space.Full() {
			break
		}
		space.Take(len(r.Body))
		out = append(out, r)
	}
	return out, nil
}

// CountRecords implements [storage.NamedRecords.CountRecords].
func (m *store) CountRecords(ctx context.Context, kind, prefix string) (int, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	n := 0
	for key := range m.records.kinds[kind] {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n, nil
}
