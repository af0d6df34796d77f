/** On which servers, and on which of their timelines, the ledger may run. */
export const SERVERS = `
-- A server that was restored from a backup, or a standby that was promoted, has another identifier or another timeline: it may
-- lack what was committed. Nodes run only on one that is listed here; an administrator lists it, once nothing is missing.
CREATE TABLE accepted_servers (
  system_identifier text COLLATE "C" NOT NULL,
  timeline text COLLATE "C" NOT NULL,
  accepted_at timestamptz NOT NULL,
  PRIMARY KEY (system_identifier, timeline)
);
`
