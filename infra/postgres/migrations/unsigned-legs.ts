/**
 * Unsigned legs no longer reserve room. Holds of open groups were written with reserved room: these groups must end under
 * the version that registered them.
 */
export const UNSIGNED_LEGS = `
DO $$
BEGIN
  IF EXISTS (SELECT FROM actors WHERE kind = 'group' AND status NOT IN ('settled', 'reverted', 'linked')) THEN
    RAISE EXCEPTION 'settlement groups are still open: let them end, or revert them, with the version that runs now, then migrate';
  END IF;
END $$;
`
