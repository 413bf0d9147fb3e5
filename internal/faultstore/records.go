package faultstore

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func (f *store) WriteRecords(ctx context.Context, writes ...storage.RecordWrite) ([]storage.NamedRecord, error) {
	return answer(ctx, f, Call{Method: "WriteRecords"}, func() ([]storage.NamedRecord, error) {
		return f.Store.WriteRecords(ctx, writes...)
	})
}

func (f *store) NamedRecord(ctx context.Context, kind, key string) (storage.NamedRecord, error) {
	return answer(ctx, f, Call{Method: "NamedRecord"}, func() (storage.NamedRecord, error) {
		return f.Store.NamedRecord(ctx, kind, key)
	})
}

func (f *store) NamedRecords(ctx context.Context, q storage.RecordQuery) ([]storage.NamedRecord, error) {
	return answer(ctx, f, Call{Method: "NamedRecords"}, func() ([]storage.NamedRecord, error) {
		return f.Store.NamedRecords(ctx, q)
	})
}

func (f *store) CountRecords(ctx context.Context, kind, prefix string) (int, error) {
	return answer(ctx, f, Call{Method: "CountRecords"}, func() (int, error) {
		return f.Store.CountRecords(ctx, kind, prefix)
	})
}

func (f *store) PutDefinition(ctx context.Context, def storage.Definition) (storage.Definition, error) {
	return answer(ctx, f, Call{Method: "PutDefinition"}, func() (storage.Definition, error) {
		return f.Store.PutDefinition(ctx, def)
	})
}

func (f *store) Definitions(ctx context.Context, q backend.DefinitionQuery) ([]storage.Definition, error) {
	return answer(ctx, f, Call{Method: "Definitions"}, func() ([]storage.Definition, error) {
		return f.Store.Definitions(ctx, q)
	})
}

func (f *store) Definition(ctx context.Context, hash string) (storage.Definition, error) {
	return answer(ctx, f, Call{Method: "Definition"}, func() (storage.Definition, error) {
		return f.Store.Definition(ctx, hash)
	})
}

func (f *store) WriteAudit(ctx context.Context, line backend.AuditLine) error {
	return f.do(ctx, Call{Method: "WriteAudit"}, func() error { return f.Store.WriteAudit(ctx, line) })
}

func (f *store) Audit(ctx context.Context, q backend.AuditQuery) ([]backend.AuditLine, error) {
	return answer(ctx, f, Call{Method: "Audit", Run: q.Run}, func() ([]backend.AuditLine, error) {
		return f.Store.Audit(ctx, q)
	})
}
