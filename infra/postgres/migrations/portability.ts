/** Imports from other ledgers. */
export const PORTABILITY = `
-- One row an import. position: the number of completed steps of its phase; the document is sealed for this status and
-- position. settled: of a refused import, no command can be on its way to a home any more.
CREATE TABLE imports (
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  driven_at timestamptz NOT NULL DEFAULT now(),
  next_part integer NOT NULL CHECK (next_part >= 0),
  position integer NOT NULL CHECK (position >= 0),
  settled boolean NOT NULL DEFAULT false,
  import_id text COLLATE "C" PRIMARY KEY,
  status text COLLATE "C" NOT NULL
    CHECK (status IN ('staging', 'checking', 'applying', 'taking', 'done', 'refusing', 'refused')),
  document bytea NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX imports_unfinished ON imports (driven_at) WHERE status NOT IN ('done', 'refused') OR NOT settled;

-- content: a keyed hash of the request, which tells a repeat from another part. document: the records; null once the import
-- has ended. present: the records that existed already, sealed; null until their homes have replied.
CREATE TABLE import_parts (
  part integer NOT NULL CHECK (part >= 0),
  import_id text COLLATE "C" NOT NULL,
  content text COLLATE "C" NOT NULL,
  document bytea STORAGE EXTERNAL,
  present bytea,
  PRIMARY KEY (import_id, part)
);
`
