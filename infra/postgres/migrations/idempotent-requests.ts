/** Requests with the header `Idempotency-Key`. */
export const IDEMPOTENT_REQUESTS = `
-- key_ref: a keyed hash of client, path and key. attempts: the number of open attempts; a row with status begun and no
-- attempts counts as absent. document: the request's hash, and its reply once there is one; sealed for the status.
CREATE TABLE idempotent_requests (
  client_id text COLLATE "C" NOT NULL,
  key_ref text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('begun', 'answered')),
  attempts integer NOT NULL CHECK (attempts >= 0),
  document bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (client_id, key_ref)
) WITH (fillfactor = 50);
CREATE INDEX idempotent_requests_by_time ON idempotent_requests (created_at);

CREATE TABLE idempotent_answer_parts (
  client_id text COLLATE "C" NOT NULL,
  key_ref text COLLATE "C" NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  number integer NOT NULL CHECK (number >= 0),
  document bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (client_id, key_ref, attempt, number)
);
ALTER TABLE idempotent_answer_parts ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE INDEX idempotent_answer_parts_by_time ON idempotent_answer_parts (created_at);
`
