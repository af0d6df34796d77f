/** The log as edges serve it. Only what is below the published head is shown: witnesses vouch for it. */
import { logProofText } from '../../api/client/log/log-proof.ts'
import { parseNote, verifierKeyText } from '../../api/client/log/signed-note.ts'
import type { TileAddress } from '../../runtime/log/tile-paths.ts'
import { TILE_WIDTH, widthOf } from '../../runtime/log/tree.ts'
import { TreeProofs } from '../../runtime/log/tree-proofs.ts'
import type { LedgerLog, LedgerLogProof } from '../../runtime/ports/ledger-log.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { LogStoreUnavailable, type PublishedLogHead } from '../../runtime/ports/log-store.ts'
import { createQueryPool } from '../postgres/connection/query-pool.ts'
import { fetchKeysOfAccounts } from '../postgres/rows/erased-accounts.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { placeOfEntry } from './entry-place.ts'
import { accountLogKey, EntrySalts, logEntry } from './log-entry.ts'
import type { NoteSigner } from './log-signer.ts'
import { bundleOf } from './entry-bundle.ts'
import { ServedLog } from './served-log.ts'

export interface PostgresLedgerLog extends LedgerLog {
  readonly close: () => Promise<void>
}

export interface LedgerLogOptions {
  readonly url: string
  readonly logKey: Buffer
  readonly key: NoteSigner['key']
  readonly vault: RowVault
  readonly shardOf: (accountId: string) => number
  readonly clock: Pick<Clock, 'monotonic'>
  readonly log: Pick<Log, 'error'>
  readonly poolSize?: number
}

/** Strangers may ask. Beyond this they are refused, and wait for nothing. */
const MAX_WAITING = 100

export function createLedgerLog(options: LedgerLogOptions): PostgresLedgerLog {
  const { url, key, clock, log, poolSize = 2 } = options
  const served = new ServedLog(clock)
  const pool = createQueryPool({
    url,
    name: 'ledger log reads',
    readsOnly: true,
    size: poolSize,
    maxWaiting: MAX_WAITING,
    unavailable: (message, cause) => new LogStoreUnavailable(message, cause),
  })

  async function tile(address: TileAddress): Promise<Uint8Array | undefined> {
    const { level, number, width } = address
    const end = number * TILE_WIDTH + width
    const height = level === 'entries' ? 0 : level
    const published = await served.published(pool.run, end * TILE_WIDTH ** height)
    if (end > widthOf(height, published?.size ?? 0)) return undefined
    const content = await served.tile(pool.run, address)
    return level === 'entries' ? content && bundleOf(content) : content
  }

  async function proof(accountId: string, sequence: number): Promise<LedgerLogProof | undefined> {
    const { vault, shardOf, logKey } = options
    const [shardId, ref] = [shardOf(accountId), vault.accountRef(accountId)]
    const found = await pool.run(async (sql) => {
      if ((await fetchKeysOfAccounts(sql, [ref], vault)).has(ref)) return undefined
      const [row] = await sql<{ audit_hash: Buffer; xid: string }[]>`
        SELECT audit_hash, commit_xid::text AS xid FROM chain_entries
         WHERE shard_id = ${shardId} AND account_id = ${ref} AND sequence = ${sequence}`
      if (row === undefined) return undefined
      const salt = new EntrySalts(accountLogKey(logKey, ref)).of(sequence)
      // Another connection might never come: other proofs may hold all of them, and wait for one more, too.
      const entries = (number: number, width: number) =>
        served.tile((work) => work(sql), { level: 'entries', number, width })
      const place = await placeOfEntry(sql, { entries }, { entry: logEntry(salt, row.audit_hash), xid: row.xid })
      return { salt, place, xid: row.xid }
    })
    if (found === undefined) return undefined
    const { salt, place, xid } = found
    if (place === 'lacking') log.error('log_lacks_entry', { shard_id: shardId, account_ref: ref, sequence, xid })
    if (typeof place === 'string') return { kind: place }
    const published = await served.published(pool.run, place + 1)
    if (published === undefined || place >= published.size) return { kind: 'pending' }
    return { kind: 'proved', text: await proofText({ salt, place }, published) }
  }

  async function proofText(
    { salt, place }: { readonly salt: Buffer; readonly place: number },
    { size, note }: PublishedLogHead,
  ): Promise<string> {
    const checkpoint = parseNote(note)
    if (checkpoint === undefined) throw new Error('the published head of the log is malformed')
    const proofs = new TreeProofs(async (level, number, width) => {
      const hashes = await served.tile(pool.run, { level, number, width })
      if (hashes === undefined) throw new LogStoreUnavailable('the log has no such tile')
      return hashes
    }, size)
    const hashes = (await proofs.inclusion(place)).map((hash) => new Uint8Array(hash))
    return logProofText({ salt: new Uint8Array(salt), index: place, hashes, checkpoint })
  }

  return {
    verifierKey: verifierKeyText(key),
    checkpoint: async () => (await served.published(pool.run))?.note,
    tile,
    accountKey: (accountId) => accountLogKey(options.logKey, options.vault.accountRef(accountId)),
    proof,
    close: pool.close,
  }
}
