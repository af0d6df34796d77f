/** The position of the database, which identifies an older copy. */
export const STORE_POSITIONS = `
-- Raised by each heartbeat of the session's node. Nodes remember it outside PostgreSQL.
ALTER TABLE sessions ADD COLUMN probes bigint NOT NULL DEFAULT 0;

-- acceptance: new for each acceptance of the server by an administrator. went_back_at: a node saw that commits are missing.
-- An earlier acceptance gets the same value in every copy of the database, at whatever time it is migrated.
ALTER TABLE accepted_servers ADD COLUMN acceptance uuid;
UPDATE accepted_servers
   SET acceptance = md5(concat_ws(' ', system_identifier, timeline, extract(epoch FROM accepted_at)))::uuid;
ALTER TABLE accepted_servers ALTER COLUMN acceptance SET DEFAULT gen_random_uuid(), ALTER COLUMN acceptance SET NOT NULL;
ALTER TABLE accepted_servers ADD COLUMN went_back_at timestamptz;
`
