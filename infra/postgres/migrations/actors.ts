/** Groups, exchanges, tokens, NFT classes, NFT instances and holds, and the messages between shards. */
export const ACTORS = `
-- document: the sealed state; the other columns are copied out of it.
-- Classes are at the home of their name (actor_id: the folded name), instances at their own (actor_id: class/instance).
-- class_id: of both. class_name, issuer: of a class.
-- owner: of an instance; null while it is being minted and once it is burned. Of a hold: its payer. issuer, owner: keyed hashes.
-- ended_xid: the commit that settled or reverted a group.
CREATE TABLE actors (
  version bigint NOT NULL,
  due_at timestamptz,
  created_at timestamptz NOT NULL,
  ended_xid xid8,
  shard_id integer NOT NULL,
  kind text COLLATE "C" NOT NULL
    CONSTRAINT actors_kind_check CHECK (kind IN ('group', 'exchange', 'token', 'class', 'instance', 'hold')),
  actor_id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  client_id text COLLATE "C",
  class_id text COLLATE "C",
  class_name text,
  issuer text COLLATE "C",
  owner text COLLATE "C",
  document bytea NOT NULL,
  PRIMARY KEY (shard_id, kind, actor_id)
) WITH (fillfactor = 70);
CREATE INDEX actors_by_id ON actors (kind, actor_id);
CREATE INDEX actors_due ON actors (shard_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX actors_open_groups ON actors (client_id)
  WHERE kind = 'group' AND status NOT IN ('settled', 'reverted', 'linked');
CREATE INDEX actors_ended ON actors (ended_xid) WHERE ended_xid IS NOT NULL;
CREATE UNIQUE INDEX actors_classes ON actors (class_id) WHERE kind = 'class';
CREATE INDEX actors_holds ON actors (owner, status, actor_id) WHERE kind = 'hold';
CREATE INDEX actors_owned ON actors (owner, actor_id) WHERE kind = 'instance' AND owner IS NOT NULL;

-- The history of an instance, from its mint to its burn; each entry's hash covers the one before (C1 of the chains).
-- nft_id: class/instance. from_account_id: null for the mint. commit_xid: as of audit_entries.
CREATE TABLE nft_events (
  occurred_at timestamptz NOT NULL,
  commit_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  shard_id integer NOT NULL,
  number integer NOT NULL CHECK (number >= 0),
  nft_id text COLLATE "C" NOT NULL,
  type text NOT NULL CHECK (type IN ('mint', 'transfer', 'burn')),
  from_account_id text COLLATE "C",
  to_account_id text COLLATE "C" NOT NULL,
  txn_id text COLLATE "C" NOT NULL,
  previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  event_hash bytea NOT NULL CHECK (octet_length(event_hash) = 32),
  payload bytea NOT NULL,
  PRIMARY KEY (shard_id, nft_id, number)
);
CREATE INDEX nft_events_by_commit ON nft_events (commit_xid);

-- Messages from shard_id to target_shard. message: the whole envelope, sealed. Value in transit is that of the rows above
-- the target's inbox mark.
CREATE TABLE outbox (
  number bigint NOT NULL CHECK (number > 0),
  written_at timestamptz NOT NULL,
  shard_id integer NOT NULL,
  target_shard integer NOT NULL,
  message bytea NOT NULL,
  PRIMARY KEY (shard_id, target_shard, number)
);

-- The last number sent: written by the commits of shard_id's owner, in the batch that sends.
CREATE TABLE outbox_channels (
  sent bigint NOT NULL CHECK (sent > 0),
  shard_id integer NOT NULL,
  target_shard integer NOT NULL,
  PRIMARY KEY (shard_id, target_shard)
) WITH (fillfactor = 50);

-- The last number that the receiver acknowledged. Not a column of outbox_channels: it is written beside the commits, and
-- neither may wait for the other.
CREATE TABLE outbox_acknowledgements (
  acknowledged bigint NOT NULL CHECK (acknowledged > 0),
  shard_id integer NOT NULL,
  target_shard integer NOT NULL,
  PRIMARY KEY (shard_id, target_shard)
) WITH (fillfactor = 50);

-- The last number of source_shard's messages that shard_id took in, written in the batch that takes it in.
CREATE TABLE inbox_marks (
  mark bigint NOT NULL CHECK (mark > 0),
  shard_id integer NOT NULL,
  source_shard integer NOT NULL,
  PRIMARY KEY (shard_id, source_shard)
) WITH (fillfactor = 50);
`
