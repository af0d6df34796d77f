/** A pass performs all walks in sequence, step by step. */
import type { Json } from '../../actors/canonical-json.ts'
import { conservationWalk } from './conservation.ts'
import type { Look, Seen, Walk } from './walk.ts'
import { actorsWalk } from './walk-actors.ts'
import { chainsWalk } from './walk-chains.ts'
import { nftsWalk } from './walk-nfts.ts'
import { tokensWalk } from './walk-tokens.ts'
import { transactionsWalk } from './walk-transactions.ts'

/** Position of a pass: plain JSON. */
export interface PassPlace {
  readonly walk: string
  readonly cursor: Json
}

type AnyWalk = Walk<Json>

/** A walk only gets cursors that it has made itself. */
function anyWalk<Cursor>(walk: Walk<Cursor>): AnyWalk {
  const { name, subjects, start } = walk
  return {
    name,
    subjects,
    start: start as Json,
    step: async (look, cursor) => {
      const { next, ...seen } = await walk.step(look, cursor as Cursor)
      return { ...seen, next: next as Json }
    },
  }
}

/** Walks for compliance and for provenance. */
export const WALKS = {
  compliance: [
    anyWalk(chainsWalk),
    anyWalk(transactionsWalk),
    anyWalk(tokensWalk),
    anyWalk(actorsWalk),
    anyWalk(conservationWalk),
  ],
  provenance: [anyWalk(nftsWalk)],
} as const satisfies Record<string, readonly AnyWalk[]>

export type PassKind = keyof typeof WALKS

export const WHOLE_PASS: readonly AnyWalk[] = [...WALKS.provenance, ...WALKS.compliance]

export function startOf(walks: readonly AnyWalk[]): PassPlace {
  const [first] = walks
  if (first === undefined) throw new RangeError('a pass has at least one walk')
  return { walk: first.name, cursor: first.start }
}

/** `next`: null after the last step. An unknown place, as of another version, begins the pass anew. */
export async function stepPass(
  walks: readonly AnyWalk[],
  look: Look,
  place: PassPlace,
): Promise<{ readonly next: PassPlace | null; readonly seen: Seen }> {
  const index = walks.findIndex(({ name }) => name === place.walk)
  const walk = walks[index]
  if (walk === undefined) return stepPass(walks, look, startOf(walks))
  const { next, ...seen } = await walk.step(look, place.cursor)
  if (next !== null) return { next: { walk: walk.name, cursor: next }, seen }
  const following = walks[index + 1]
  return { next: following === undefined ? null : { walk: following.name, cursor: following.start }, seen }
}
