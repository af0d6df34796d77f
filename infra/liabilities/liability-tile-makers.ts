/**
 * Distributes the tiles of a run over this thread and other threads.
 *   M1. A batch goes to another thread that has room for it, else this thread makes it.
 *   M2. All batches of a thread that crashes fail.
 */
import { createTileMaker, type MadeTiles, type TileBatch, type TileSecrets } from './liability-tiles.ts'

/** A thread that makes tiles, one batch after another. */
export interface OtherMaker {
  /** Transfers the buffers of the batch. */
  readonly make: (batch: TileBatch) => Promise<MadeTiles>
  readonly end: () => void
}

export type StartTileMaker = (secrets: TileSecrets) => OtherMaker

export interface TileMakers {
  readonly make: (batch: TileBatch) => Promise<MadeTiles>
  readonly end: () => void
}

/** One batch in work and one waiting, so that a thread is never idle. */
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
