/**
 * Who makes the tiles of a run: this thread, and others beside it.
 *   M1. A batch goes to whoever else has room for it; where nobody has, it is made here.
 *   M2. One that dies, dies with all that it was given.
 */
import { createTileMaker, type MadeTiles, type TileBatch, type TileSecrets } from './liability-tiles.ts'

/** One that makes tiles elsewhere, one batch after another. */
export interface OtherMaker {
  /** What the batch is made of may be of no use here any more. */
  readonly make: (batch: TileBatch) => Promise<MadeTiles>
  /** It is of no use any more. */
  readonly end: () => void
}

export type StartTileMaker = (secrets: TileSecrets) => OtherMaker

export interface TileMakers {
  readonly make: (batch: TileBatch) => Promise<MadeTiles>
  readonly end: () => void
}

/** One that is made, and one that waits: nobody is idle while it is fetched. */
const BATCHES_EACH = 2

export function createTileMakers(secrets: TileSecrets, others: readonly OtherMaker[]): TileMakers {
  const makeHere = createTileMaker(secrets)
  const places = others.map((maker) => ({ maker, busy: 0 }))

  return {
    make: async (batch) => {
      const place = places.find(({ busy }) => busy < BATCHES_EACH)
      if (place === undefined) return makeHere(batch)
      place.busy += 1
      try {
        return await place.maker.make(batch)
      } finally {
        place.busy -= 1
      }
    },
    end: () => {
      for (const { end } of others) end()
    },
  }
}
