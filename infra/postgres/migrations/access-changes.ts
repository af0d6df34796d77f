/** Records changes of clients and sessions, so that edges read only the changes. */
export const ACCESS_CHANGES = `
-- The transaction that last wrote the row. Triggers set it, also for a change by hand.
ALTER TABLE clients ADD COLUMN changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX clients_changed ON clients (changed_xid);
CREATE FUNCTION ledger_note_client() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.changed_xid := pg_current_xact_id(); RETURN NEW; END $$;
CREATE TRIGGER clients_changed BEFORE INSERT OR UPDATE OF document, revoked_at ON clients
  FOR EACH ROW EXECUTE FUNCTION ledger_note_client();

-- The transaction that revoked the session.
ALTER TABLE refresh_families ADD COLUMN revoked_xid xid8;
CREATE INDEX refresh_families_changed ON refresh_families (revoked_xid) WHERE revoked_xid IS NOT NULL;
DROP INDEX refresh_families_revoked;
CREATE FUNCTION ledger_note_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.revoked_xid := pg_current_xact_id(); RETURN NEW; END $$;
CREATE TRIGGER refresh_families_changed BEFORE INSERT OR UPDATE OF revoked_at ON refresh_families
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION ledger_note_session();

-- A deleted or renamed client leaves no row: after such a change edges look up every client again.
CREATE TABLE access_resets (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  reset_xid xid8 NOT NULL
);
INSERT INTO access_resets (reset_xid) VALUES (pg_current_xact_id());
CREATE FUNCTION ledger_reset_access() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE access_resets SET reset_xid = pg_current_xact_id(); RETURN NULL; END $$;
CREATE TRIGGER clients_reset AFTER DELETE OR TRUNCATE OR UPDATE OF client_id ON clients
  EXECUTE FUNCTION ledger_reset_access();
`
