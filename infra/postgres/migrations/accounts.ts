/** Accounts with their keys, balances, holds and chains, and the data keys that seal them. */
export const ACCOUNTS = `
-- account_id, in every table: a keyed hash of the ID. digest: sealed for the values of all columns beside it; over the account's
-- balances and holds. lasting: sealed; what changes seldom, as written in lasting_version, so that an order does not write it.
-- erased: the account's data key is destroyed, and its row is under the shard's key. Few accounts are.
-- nft_count: NFTs that the account received, less those that it gave away. nft_room: places reserved for promised NFTs. The
-- count falls below zero while an NFT is given on before its receipt is recorded here: its place is still reserved.
CREATE TABLE accounts (
  version bigint NOT NULL,
  sequence bigint NOT NULL,
  completed_count bigint NOT NULL,
  failed_count bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  last_time timestamptz NOT NULL,
  lasting_version bigint NOT NULL,
  shard_id integer NOT NULL,
  nft_count integer NOT NULL DEFAULT 0,
  nft_room integer NOT NULL DEFAULT 0 CHECK (nft_room >= 0),
  account_id text COLLATE "C" NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'frozen', 'closed', 'erased')),
  tip bytea NOT NULL CHECK (octet_length(tip) = 32),
  digest bytea NOT NULL,
  lasting bytea NOT NULL,
  PRIMARY KEY (shard_id, account_id),
  CONSTRAINT accounts_nfts_are_there CHECK (nft_count + nft_room >= 0)
) WITH (fillfactor = 70);
CREATE INDEX accounts_by_id ON accounts (account_id);
CREATE INDEX accounts_erased ON accounts (account_id) WHERE status = 'erased';

CREATE TABLE account_keys (
  from_sequence bigint NOT NULL,
  registered_at timestamptz NOT NULL,
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  document bytea NOT NULL,
  PRIMARY KEY (shard_id, account_id, from_sequence)
);

CREATE TABLE balances (
  updated_at timestamptz NOT NULL,
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  document bytea NOT NULL,
  PRIMARY KEY (shard_id, account_id, token_id)
) WITH (fillfactor = 70);

-- Unfinished work of an account beside its pending transactions. hold_id of an NFT that is being minted: made of the hash of
-- the client's key.
CREATE TABLE holds (
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  hold_id text COLLATE "C" NOT NULL,
  document bytea NOT NULL,
  PRIMARY KEY (shard_id, account_id, hold_id)
);

-- Entries of chains that are no transactions. token_id: the asset whose balance the entry changes; empty: those that its payload
-- lists; null: none. processed_at: of entries that change balances. commit_xid: the transaction that wrote the row. The auditor finds by it the rows
-- written since a pass began.
CREATE TABLE audit_entries (
  processed_at timestamptz,
  sequence bigint NOT NULL,
  commit_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  audit_hash bytea NOT NULL CHECK (octet_length(audit_hash) = 32),
  token_id text COLLATE "C",
  payload bytea NOT NULL,
  PRIMARY KEY (shard_id, account_id, sequence),
  CONSTRAINT audit_entries_of_asset CHECK ((token_id IS NULL) = (processed_at IS NULL))
);
CREATE INDEX audit_entries_by_commit ON audit_entries (commit_xid);
CREATE INDEX audit_entries_by_asset ON audit_entries (shard_id, account_id, token_id, processed_at, sequence)
  WHERE token_id IS NOT NULL;

-- Wrapped under the master key. scope: the kind of owner; ref: the owner of that kind.
CREATE TABLE data_keys (
  shard_id integer NOT NULL,
  scope text COLLATE "C" NOT NULL CHECK (scope IN ('account', 'class', 'shard', 'ledger')),
  ref text COLLATE "C" NOT NULL,
  master_key_id text COLLATE "C" NOT NULL,
  wrapped bytea NOT NULL,
  PRIMARY KEY (scope, ref)
);
`
