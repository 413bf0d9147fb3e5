package swf

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// A typeKind is one of the two kinds of types.
type typeKind struct {
	record string    // kind of the records
	word   string    // in messages
	quota  aws.Quota // how many a domain may have
}

var (
	workflowTypes = &typeKind{"swf.workflow-type", "WorkflowType", QuotaWorkflowTypes}
	activityTypes = &typeKind{"swf.activity-type", "ActivityType", QuotaActivityTypes}
)

// A registration is the record of a type. It says nothing but how the type was registered, and whether it is
// deprecated.
type registration struct {
	Type        swf.Type        `json:"type"`
	Description string          `json:"description,omitempty"`
	Deprecated  time.Time       `json:"deprecated,omitzero"` // zero if the type was not deprecated by itself
	Defaults    json.RawMessage `json:"defaults"`            // swf.WorkflowDefaults or swf.ActivityDefaults

	record storage.NamedRecord
	swept  time.Time // when the type was deprecated with its domain; zero if it was not
}

// deprecation returns when the type was deprecated; zero if it is registered.
func (r *registration) deprecation() time.Time {
	if !r.Deprecated.IsZero() {
		return r.Deprecated
	}
	return r.swept
}

// status returns REGISTERED or DEPRECATED.
func (r *registration) status() string {
	if r.deprecation().IsZero() {
		return registered
	}
	return deprecated
}

// of completes a registration that was read with what its domain says.
func (r *registration) of(d *domain) *registration {
	if r.record.Revision < d.swept() {
		r.swept = d.SweptAt
	}
	return r
}

// separator is between the parts of the key of a type. Names do not have it, and it sorts before all that they have.
const separator = "\x01"

// typeKey returns the key of a type. Types are listed in the order of their keys: by name, then by version.
func typeKey(domain string, parts ...string) string {
	const most = 300 // bytes of each part; a key has at most backend.MaxRecordKey
	var key strings.Builder
	key.WriteString(shortened(domain, most))
	for _, part := range parts {
		key.WriteString(separator + shortened(part, most))
	}
	return key.String()
}

// shortened returns a text, or its beginning with a hash of it if it is too long.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	cut := most - len(hash) - 1
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "~" + hash
}

// is returns how a type is called in messages.
func (k *typeKind) is(t swf.Type) string {
	return k.word + "=[name=" + t.Name + ", version=" + t.Version + "]"
}

func (k *typeKind) unknown(t swf.Type) error {
	return aws.Errorf(unknownResource, "Unknown type: %s", k.is(t))
}

// registration returns a type, or AWS's fault.
func (s *Server) registration(ctx context.Context, k *typeKind, d *domain, t swf.Type) (*registration, error) {
	r := &registration{}
	var err error
	r.record, err = s.records.Read(ctx, k.record, typeKey(d.Name, t.Name, t.Version), r)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrInvalid) {
		return nil, k.unknown(t)
	}
	return r.of(d), err
}

// unchanged returns the condition that the type has not changed since it was read.
func (r *registration) unchanged() storage.RecordCheck {
	return storage.RecordCheck{Kind: r.record.Kind, Key: r.record.Key, Revision: r.record.Revision}
}

// register registers a type.
func (s *Server) register(ctx context.Context, k *typeKind, domainName string, r *registration) error {
	return records.Retried(ctx, func() error {
		d, err := s.usable(ctx, domainName)
		if err != nil {
			return err
		}
		switch _, err := s.registration(ctx, k, d, r.Type); {
		case err == nil:
			return aws.Errorf(typeAlreadyExists, "%s", k.is(r.Type))
		case !isFault(err, unknownResource):
			return err
		}
		count, err := s.store.CountRecords(ctx, k.record, typeKey(d.Name, ""))
		if err != nil {
			return err
		}
		if err := s.quotas.Within(k.quota, int64(count)+1, limitExceeded); err != nil {
			return err
		}
		_, err = s.store.WriteRecords(ctx,
			records.Put(k.record, typeKey(d.Name, r.Type.Name, r.Type.Version), 0, r),
			storage.RecordWrite{Kind: domainKind, Key: d.Name, Was: d.record.Revision, Keep: true})
		return err
	})
}

// changeType lets do change a type, and writes what do returns.
func (s *Server) changeType(ctx context.Context, k *typeKind, domainName string, t swf.Type,
	do func(r *registration) (storage.RecordWrite, error),
) error {
	return records.Retried(ctx, func() error {
		d, err := s.domain(ctx, domainName)
		if err != nil {
			return err
		}
		r, err := s.registration(ctx, k, d, t)
		if err != nil {
			return err
		}
		write, err := do(r)
		if err != nil {
			return err
		}
		_, err = s.store.WriteRecords(ctx, write)
		return err
	})
}

// deprecateType makes a type refuse new executions or activities.
func (s *Server) deprecateType(ctx context.Context, k *typeKind, domainName string, t swf.Type) error {
	return s.changeType(ctx, k, domainName, t, func(r *registration) (storage.RecordWrite, error) {
		if r.status() == deprecated {
			return storage.RecordWrite{}, aws.Errorf(typeDeprecated, "%s", k.is(t))
		}
		r.Deprecated = s.config.Now()
		return records.Put(k.record, r.record.Key, r.record.Revision, r), nil
	})
}

// undeprecateType registers a deprecated type again.
func (s *Server) undeprecateType(ctx context.Context, k *typeKind, domainName string, t swf.Type) error {
	return s.changeType(ctx, k, domainName, t, func(r *registration) (storage.RecordWrite, error) {
		if r.status() == registered {
			return storage.RecordWrite{}, aws.Errorf(typeAlreadyExists, "%s", k.is(t))
		}
		r.Deprecated = time.Time{}
		return records.Put(k.record, r.record.Key, r.record.Revision, r), nil
	})
}

// deleteType deletes a deprecated type. Its open executions and activities continue.
func (s *Server) deleteType(ctx context.Context, k *typeKind, domainName string, t swf.Type) error {
	return s.changeType(ctx, k, domainName, t, func(r *registration) (storage.RecordWrite, error) {
		if r.status() == registered {
			return storage.RecordWrite{}, aws.Errorf(typeNotDeprecated,
				"The type is currently registered and cannot be deleted in its current state")
		}
		return records.Remove(&r.record), nil
	})
}

// describeType returns a type of a domain.
func (s *Server) describeType(ctx context.Context, k *typeKind, domainName string, t swf.Type) (*registration, error) {
	d, err := s.domain(ctx, domainName)
	if err != nil {
		return nil, err
	}
	return s.registration(ctx, k, d, t)
}

// A typeInfo describes a type, except its name.
type typeInfo struct {
	Status      string    `json:"status"`
	Description string    `json:"description,omitempty"`
	Created     *aws.Time `json:"creationDate"`
	Deprecated  *aws.Time `json:"deprecationDate,omitempty"`
}

func (r *registration) info() typeInfo {
	return typeInfo{r.status(), r.Description, aws.At(r.record.Created), aws.At(r.deprecation())}
}
