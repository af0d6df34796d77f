/** The auditor's progress and findings. */
export const AUDIT = `
CREATE TABLE audit_progress (
  updated_at timestamptz NOT NULL,
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  document text NOT NULL
) WITH (fillfactor = 50);

-- pass: the number of the pass that was under way. A finding that the next pass does not repeat is deleted when that pass
-- is complete.
CREATE TABLE audit_findings (
  pass bigint NOT NULL,
  found_at timestamptz NOT NULL,
  subject text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  problem text NOT NULL,
  PRIMARY KEY (subject, place)
);
`
