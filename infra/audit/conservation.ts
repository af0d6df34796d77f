/**
 * Whether value is conserved (I4), of one moment of the whole ledger: per asset, balances + what holds have + what
 * messages carry = supply + what came over the boundary - what left.
 */
import type { Finding } from '../../actors/audit/finding.ts'
import { isUnreadable } from './audit-reads.ts'
import { UNDELIVERED } from './in-transit.ts'
import type { Look, Step, Walk } from './walk.ts'

/** Assets that are named, of those that do not add up. */
const NAMED = 100

export const CONSERVATION = `
WITH balanced AS (
  SELECT token_id, sum(balance) AS value FROM balances GROUP BY token_id),
held AS (
  SELECT token_id, sum(value) AS value FROM holds WHERE token_id IS NOT NULL GROUP BY token_id),
carried AS (
  SELECT c.item ->> 0 AS token_id, sum((c.item ->> 1)::numeric) AS value
    FROM (${UNDELIVERED}) o
   CROSS JOIN LATERAL json_array_elements(o.carries::json) AS c (item)
   WHERE o.carries IS NOT NULL GROUP BY 1),
supplied AS (
  SELECT document::json ->> 'tokenId' AS token_id, sum((document::json ->> 'totalSupply')::numeric) AS value
    FROM actors WHERE kind = 'token' AND status <> 'preparing' GROUP BY 1),
crossed AS (
  SELECT token_id, sum(credited) - sum(debited) AS value FROM boundary_totals GROUP BY token_id),
judged AS MATERIALIZED (
  SELECT token_id, coalesce(b.value, 0) + coalesce(h.value, 0) + coalesce(c.value, 0)
           = coalesce(s.value, 0) + coalesce(x.value, 0) AS conserved
    FROM balanced b
    FULL JOIN held h USING (token_id)
    FULL JOIN carried c USING (token_id)
    FULL JOIN supplied s USING (token_id)
    FULL JOIN crossed x USING (token_id))
SELECT (SELECT count(*) FROM judged)::integer AS assets,
       (SELECT json_agg(token_id) FROM (
          SELECT coalesce(token_id, '(no name)') AS token_id FROM judged WHERE conserved IS NOT TRUE
           ORDER BY token_id LIMIT ${NAMED}) AS wrong) AS wrong`

interface ConservationRow {
  readonly assets: number
  readonly wrong: readonly string[] | null
}

export const conservationWalk: Walk<null> = {
  name: 'conservation',
  subjects: ['value_is_conserved'],
  start: null,
  step,
}

async function step(look: Look): Promise<Step<null>> {
  const found = (place: string, problem: string): Finding => ({ subject: 'value_is_conserved', place, problem })
  try {
    const [row] = await look.wholeMoment((query) => query<ConservationRow>(CONSERVATION))
    const wrong = row?.wrong ?? []
    return {
      next: null,
      checked: { value_is_conserved: row?.assets ?? 0 },
      findings: wrong.map((tokenId) => found(`asset ${tokenId}`, 'what there is of it is not what came into being')),
      pending: [],
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const finding = found('the whole ledger', 'a message or a token cannot be read')
    return { next: null, checked: {}, findings: [finding], pending: [] }
  }
}
