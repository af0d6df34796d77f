/** NFT classes and instances, and what became of them. */
export const NFTS = `
-- NFTs that the account took in, less those that it gave away; and places kept for those that are promised to it. One that
-- is given on before its new owner's account has heard of it is promised still.
ALTER TABLE accounts
  ADD COLUMN nft_count integer NOT NULL DEFAULT 0,
  ADD COLUMN nft_room integer NOT NULL DEFAULT 0 CHECK (nft_room >= 0),
  ADD CONSTRAINT accounts_nfts_are_there CHECK (nft_count + nft_room >= 0);

-- Of a leg whose NFT's home has not said yet that it holds it: its transaction, which is pending. Others that are pending
-- have a hold under their own ID.
ALTER TABLE holds ADD COLUMN pending_txn_id text COLLATE "C";
CREATE INDEX holds_pending_legs ON holds (shard_id, account_id) WHERE pending_txn_id IS NOT NULL;

-- Classes are at the home of their name (actor_id: the name, folded), instances at their own (actor_id: class/instance).
-- class_id: of both. class_name, issuer: of a class; beside its document, because PostgreSQL undoes the escapes of all of
-- a document to find one member, and refuses a \\u0000 that a client has in it.
-- owner: of an instance that somebody owns; null of one that is being minted or is burned.
ALTER TABLE actors
  DROP CONSTRAINT actors_kind_check,
  ADD CONSTRAINT actors_kind_check CHECK (kind IN ('group', 'exchange', 'token', 'class', 'instance')),
  ADD COLUMN class_id text COLLATE "C",
  ADD COLUMN class_name text,
  ADD COLUMN issuer text COLLATE "C",
  ADD COLUMN owner text COLLATE "C";
CREATE UNIQUE INDEX actors_classes ON actors (class_id) WHERE kind = 'class';
CREATE INDEX actors_owned ON actors (owner, actor_id) WHERE kind = 'instance' AND owner IS NOT NULL;

-- What became of an instance, from its mint to its burn; each entry's hash covers the one before (C1 of the chains).
-- nft_id: class/instance. from_account_id: null for the mint.
CREATE TABLE nft_events (
  shard_id integer NOT NULL,
  nft_id text COLLATE "C" NOT NULL,
  number integer NOT NULL CHECK (number >= 0),
  type text NOT NULL CHECK (type IN ('mint', 'transfer', 'burn')),
  from_account_id text COLLATE "C",
  to_account_id text COLLATE "C" NOT NULL,
  txn_id text COLLATE "C" NOT NULL,
  occurred_at timestamptz NOT NULL,
  previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  event_hash bytea NOT NULL CHECK (octet_length(event_hash) = 32),
  payload text NOT NULL,
  PRIMARY KEY (shard_id, nft_id, number)
);
`
