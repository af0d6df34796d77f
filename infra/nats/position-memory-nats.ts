/**
 * Stores the latest position of PostgreSQL in the JetStream bucket `ledger_<name>_positions`, always in files. Each node
 * overwrites the record with its own position, which is at most a heartbeat old.
 */
import * as v from 'valibot'
import type { Log } from '../../runtime/ports/log.ts'
import { reasonOf } from '../../runtime/common/reason.ts'
import { following, type PositionMemory, type RememberedPosition } from '../postgres/store/store-position.ts'
import { type BucketOptions, bucketName, createBucket, isPresent } from './bucket.ts'
import type { NatsLink } from './connection.ts'

export interface NatsPositionMemory extends PositionMemory {
  /** Waits for the write in flight and the last one after it. */
  readonly close: () => Promise<void>
}

const KEY = 'latest'
const RETRY_MS = 1_000
const POSITION = v.object({
  acceptance: v.string(),
  session: v.string(),
  probes: v.pipe(v.number(), v.safeInteger()),
  earlierAcceptances: v.array(v.string()),
})

/** Resolves when the stored position was read, or with undefined if `stopping` returns true before. */
export async function openPositionMemory(
  link: NatsLink,
  log: Log,
  options: Omit<BucketOptions, 'storage'>,
  stopping: () => boolean,
): Promise<NatsPositionMemory | undefined> {
  const bucket = createBucket(link, bucketName(options.ledgerId, 'positions'), { ...options, storage: 'file' }, 0)
  const read = (): Promise<RememberedPosition | undefined> =>
    bucket.use(async (kv) => {
      const entry = await kv.get(KEY)
      return isPresent(entry) ? v.parse(POSITION, entry.json()) : undefined
    })
  let latest: RememberedPosition | undefined
  for (;;) {
    try {
      latest = await read()
      break
    } catch (error) {
      log.warn('store_position_not_read', { cause: reasonOf(error) })
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      if (stopping()) return undefined
    }
  }
  let writing: Promise<void> | undefined
  let written = latest
  const write = async (): Promise<void> => {
    for (let next = latest; next !== undefined && next !== written; next = latest) {
      const body = JSON.stringify(next)
      await bucket.use((kv) => kv.put(KEY, body))
      written = next
    }
  }
  let failing = false
  const remember: PositionMemory['remember'] = (position) => {
    latest = following(latest, position)
    writing ??= write()
      .then(
        () => {
          failing = false
        },
        (error: unknown) => {
          if (!failing) log.warn('store_position_not_stored', { cause: reasonOf(error) })
          failing = true
        },
      )
      .finally(() => {
        writing = undefined
      })
  }
  return { latest: () => latest, remember, close: async () => writing }
}
