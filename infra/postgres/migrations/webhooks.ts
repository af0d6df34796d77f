/** Webhooks and their last deliveries. */
export const WEBHOOKS = `
-- Edges write webhooks. position: the cursor in the event log. holder, lease, leased_until: the edge that delivers, the number
-- of its lease (it grows with each claim) and the end of the lease; every change by another edge ends it. document: URL,
-- secrets, filter and description, sealed for the status. creation_ref: keyed hash of the client and its key for the creation.
CREATE TABLE webhooks (
  next_attempt_at timestamptz NOT NULL,
  leased_until timestamptz,
  failing_since timestamptz,
  lease bigint NOT NULL DEFAULT 0 CHECK (lease >= 0),
  delivered bigint NOT NULL DEFAULT 0 CHECK (delivered >= 0),
  failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  webhook_id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'disabled')),
  position text COLLATE "C" NOT NULL,
  holder text COLLATE "C",
  creation_ref text COLLATE "C" UNIQUE,
  document bytea NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX webhooks_by_owner ON webhooks (owner_id);

-- The last deliveries: number modulo the kept ones is the slot, so that a new row replaces the oldest.
CREATE TABLE webhook_deliveries (
  number bigint NOT NULL CHECK (number >= 0),
  slot integer NOT NULL CHECK (slot >= 0),
  webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  document bytea NOT NULL,
  PRIMARY KEY (webhook_id, slot)
) WITH (fillfactor = 50);
`
