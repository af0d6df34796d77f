/** Value between shards: holds, groups, exchanges, tokens, and the messages between them. */
export const VALUE_MOVES = `
-- Kept free for what may still come in. A row of 1970 only keeps room: the account does not hold the asset.
ALTER TABLE balances ADD COLUMN room numeric(36, 18) NOT NULL DEFAULT 0 CHECK (room >= 0);

-- details: JSON of the members receive, compensates and counterTxnId that are not null; null when all are.
-- What a pending transaction lacks comes with its one change to a final state; beside that compensated_by is set, once.
ALTER TABLE transactions
  ALTER COLUMN processed_at DROP NOT NULL,
  ALTER COLUMN receipt_key_id DROP NOT NULL,
  ALTER COLUMN receipt_signature DROP NOT NULL,
  ADD COLUMN to_account_id text COLLATE "C",
  ADD COLUMN from_account_id text COLLATE "C",
  ADD COLUMN details text,
  ADD COLUMN compensated_by text COLLATE "C",
  ADD CONSTRAINT transactions_final_has_receipt CHECK (
    (status = 'pending') = (processed_at IS NULL) AND (status = 'pending') = (receipt_signature IS NULL)
    AND (receipt_signature IS NULL) = (receipt_key_id IS NULL));
-- What clients did on an account under a group ID. Without the status: a transaction that ends changes no index.
CREATE INDEX transactions_by_group_use ON transactions (shard_id, account_id, group_id, type, token_id)
  WHERE group_id IS NOT NULL AND origin = 'client';
-- Room on the page for the one change from pending to final.
ALTER TABLE transactions SET (fillfactor = 70);

-- What is unfinished at an account. value: what left the balance of token_id and is the hold's until its group ends.
CREATE TABLE holds (
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  hold_id text COLLATE "C" NOT NULL,
  document text NOT NULL,
  token_id text COLLATE "C",
  value numeric(36, 18) NOT NULL DEFAULT 0 CHECK (value >= 0),
  PRIMARY KEY (shard_id, account_id, hold_id)
);

-- Groups, exchanges and tokens at their homes: the document is the state, the columns beside it are copied out of it.
CREATE TABLE actors (
  shard_id integer NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('group', 'exchange', 'token')),
  actor_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  status text NOT NULL,
  document text NOT NULL,
  due_at timestamptz,
  client_id text COLLATE "C",
  created_at timestamptz NOT NULL,
  PRIMARY KEY (shard_id, kind, actor_id)
) WITH (fillfactor = 70);
CREATE INDEX actors_by_id ON actors (kind, actor_id);
CREATE INDEX actors_due ON actors (shard_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX actors_open_groups ON actors (client_id)
  WHERE kind = 'group' AND status NOT IN ('settled', 'reverted', 'linked');

-- Messages from shard_id to target_shard; the message is the whole envelope. carries: JSON [[token_id, quantity], ...],
-- null when it carries nothing. What is in transit is that of the rows above the target's inbox mark.
CREATE TABLE outbox (
  shard_id integer NOT NULL,
  target_shard integer NOT NULL,
  number bigint NOT NULL CHECK (number > 0),
  receiver text COLLATE "C" NOT NULL,
  message text NOT NULL,
  carries text,
  written_at timestamptz NOT NULL,
  PRIMARY KEY (shard_id, target_shard, number)
);

-- The last number sent: written by the commits of shard_id's owner, in the batch that sends.
CREATE TABLE outbox_channels (
  shard_id integer NOT NULL,
  target_shard integer NOT NULL,
  sent bigint NOT NULL CHECK (sent > 0),
  PRIMARY KEY (shard_id, target_shard)
) WITH (fillfactor = 50);

-- The last number that the receiver is known to have taken in. Not a column of outbox_channels: it is written beside
-- the commits, and neither may wait for the other.
CREATE TABLE outbox_acknowledgements (
  shard_id integer NOT NULL,
  target_shard integer NOT NULL,
  acknowledged bigint NOT NULL CHECK (acknowledged > 0),
  PRIMARY KEY (shard_id, target_shard)
) WITH (fillfactor = 50);

-- The last number that shard_id took in of source_shard's messages, in the batch that takes it in.
CREATE TABLE inbox_marks (
  shard_id integer NOT NULL,
  source_shard integer NOT NULL,
  mark bigint NOT NULL CHECK (mark > 0),
  PRIMARY KEY (shard_id, source_shard)
) WITH (fillfactor = 50);

-- Value that came in from outside the ledger and left it, summed over what a session committed: one row a batch and
-- token instead of one a shard. Totals may have more digits than a balance.
CREATE TABLE boundary_totals (
  session text NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  credited numeric NOT NULL CHECK (credited >= 0),
  debited numeric NOT NULL CHECK (debited >= 0),
  PRIMARY KEY (session, token_id)
) WITH (fillfactor = 50);
`
