/** What arrives from other ledgers, and the key that it is encrypted to. */
export const PORTABILITY = `
-- import: others encrypt to it; it signs nothing and is not in the JWKS.
ALTER TABLE service_keys DROP CONSTRAINT service_keys_purpose_check,
  ADD CONSTRAINT service_keys_purpose_check
    CHECK (purpose IN ('token', 'receipt', 'assertion', 'attestation', 'import'));

-- One row an import. position: how many steps of its phase are done; the document is sealed for this status and position.
-- settled: of a refused one, nothing can be on its way to a home any more.
CREATE TABLE imports (
  import_id text COLLATE "C" PRIMARY KEY,
  status text COLLATE "C" NOT NULL
    CHECK (status IN ('staging', 'checking', 'applying', 'taking', 'done', 'refusing', 'refused')),
  next_part integer NOT NULL CHECK (next_part >= 0),
  position integer NOT NULL CHECK (position >= 0),
  document bytea NOT NULL,
  settled boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  driven_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
CREATE INDEX imports_unfinished ON imports (driven_at) WHERE status NOT IN ('done', 'refused') OR NOT settled;

-- content: a keyed hash of what came, which tells a repeat from another part. document: the records; null once the import has
-- ended. present: which of them were here already, sealed; null until their homes have answered.
CREATE TABLE import_parts (
  import_id text COLLATE "C" NOT NULL,
  part integer NOT NULL CHECK (part >= 0),
  content text COLLATE "C" NOT NULL,
  document bytea,
  present bytea,
  PRIMARY KEY (import_id, part)
);
ALTER TABLE import_parts ALTER COLUMN document SET STORAGE EXTERNAL;
`
