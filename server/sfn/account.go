package sfn

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
)

// of returns the server of another account or region on the same store.
func (s *Server) of(a aws.Account) *Server {
	if a == s.config.Account {
		return s
	}
	other := *s
	other.config.Account = a
	return &other
}

// at returns the server of the account and the region that an ARN names, if clients may choose them.
func (s *Server) at(arn string) *Server {
	const parts = 6
	part := strings.SplitN(arn, ":", parts)
	if !s.config.AnyAccount || len(part) < parts {
		return s
	}
	a, err := aws.Account{ID: part[4], Region: part[3], Partition: part[1]}.Completed()
	if err != nil {
		return s
	}
	return s.of(a)
}

// elsewhere adds to AWS's error for a missing resource that the address is that of another account or region.
func (s *Server) elsewhere(a *address, missing error) error {
	e, ok := errors.AsType[*aws.Error](missing)
	if !ok {
		return missing
	}
	const parts = 6
	of := strings.SplitN(a.text, ":", parts)
	said, why := *e, "see --aws-account, --aws-region and --aws-partition"
	if s.config.AnyAccount {
		why = "the account is the access key if that has 12 digits, and the region is the one that the request is signed for"
	}
	said.Message += fmt.Sprintf(": the ARN names the account %s in %s (%s); the server looks in %s in %s (%s): %s",
		of[4], of[3], of[1], s.config.Account.ID, s.config.Account.Region, s.config.Account.Partition, why)
	return &said
}

// ownKey returns the key of a record that no other account sees.
func (s *Server) ownKey(name string) string { return s.home.Key(s.config.Account, name) }

// key returns the key of a machine. All accounts share those of [Server.Load].
func (s *Server) key(machine string) string {
	if s.shares(machine) {
		return machine
	}
	return s.ownKey(machine)
}

// shares reports whether all accounts share a machine.
func (s *Server) shares(machine string) bool {
	_, shared := s.shared.Load(machine)
	return shared
}

// lists reports whether the account has the resource with a key.
func (s *Server) lists(key string) bool {
	of, _ := s.home.Named(key)
	return of == s.config.Account
}

// world returns the beginning of the ARNs of the executions whose runs have plain IDs; "" if there are no others.
func (s *Server) world() string {
	if !s.config.AnyAccount {
		return ""
	}
	return s.home.ARN("states")
}

// runID returns the id of the run of the execution with an ARN.
func (s *Server) runID(arn string) string { return asl.RunID(s.world(), arn) }
