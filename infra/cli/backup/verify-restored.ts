/**
 * Verifies a restored ledger with the master key, before the restore is done.
 *   V1. Every chain, receipt, balance, supply and NFT is verified, and value is conserved, as by the auditor.
 *   V2. The log is that of the rows, and continues the head that the backup names. So does it the checkpoint's.
 *   V3. The administrative chain has all its links, and its rows are as they were written.
 */
import type { Counts, Finding } from '../../../runtime/audit/finding.ts'
import type { PassKind } from '../../audit/pass.ts'
import { runSpotPass } from '../../audit/spot-pass.ts'
import type { Manifest } from '../../backup/manifest.ts'
import type { RecoveredServer } from '../../backup/recovery-server.ts'
import type { KeyRing } from '../../keys/wrapping-keys.ts'
import { openLedgerSecrets } from '../../ledger/ledger-secrets.ts'
import { connect } from '../../postgres/connection/connection.ts'
import { readLedgerAt } from '../../postgres/migrations/migrate.ts'
import { verifyCheckpointAt, verifyLogSince } from '../checkpoint/verify-checkpoint.ts'
import { CommandFailed } from '../common/command.ts'
import { shownText } from '../common/shown-text.ts'
import type { VerdictIo } from '../verify/verdicts.ts'

export interface ToVerify {
  readonly server: RecoveredServer
  readonly manifest: Manifest
  readonly ring: KeyRing
  /** Path of the checkpoint in the backup. */
  readonly checkpoint: string | undefined
}

const PROGRESS_MS = 10_000
const MOST_PRINTED = 100
const LAST_ORDERS = 5
const PASSES: readonly PassKind[] = ['provenance', 'compliance']

/** Prints the results. Throws CommandFailed unless everything verifies. */
export async function verifyRestored({ server, manifest, ring, checkpoint }: ToVerify, io: VerdictIo): Promise<void> {
  const { url } = server
  const ledger = await readLedgerAt(url)
  if (ledger === undefined) throw new CommandFailed('the restored database has no ledger of this version')
  if (ledger.ledgerId !== manifest.ledger_id) throw new CommandFailed('the restored database is of another ledger')
  const opened = { url, ledgerId: ledger.ledgerId, secrets: openLedgerSecrets(ring, ledger) }
  const audit = await auditAll(opened, io)
  const known = { as_of: manifest.stopped_at, log_head: manifest.log_head, log_published: manifest.log_published }
  const log = await verifyLogSince(opened, known, io)
  const file = checkpoint === undefined || (await verifyCheckpointAt(opened, checkpoint, undefined, io))
  if (audit && log && file) return sayLast(server, io)
  throw new CommandFailed('the restored ledger does not verify: nothing was left in the data directory')
}

/** V1. */
async function auditAll(
  { url, ledgerId, secrets: { vault } }: Parameters<typeof verifyLogSince>[0],
  io: VerdictIo,
): Promise<boolean> {
  let findings = 0
  let shownMs = performance.now()
  const found = ({ subject, place, problem }: Finding): void => {
    findings += 1
    if (findings > MOST_PRINTED) return
    io.verdict({ verdict: 'TAMPERED', detail: `${subject}: ${place}: ${problem}` })
  }
  for (const kind of PASSES) {
    const checked = (counts: Counts): void => {
      if (performance.now() - shownMs < PROGRESS_MS) return
      shownMs = performance.now()
      io.err(`verified so far: ${countsText(counts)}\n`)
    }
    const pass = await runSpotPass({ url, ledgerId, kind }, vault, { found, checked })
    if (findings === 0) io.verdict({ verdict: 'ok', detail: `${kind}: ${countsText(pass.checked)}` })
  }
  if (findings > MOST_PRINTED) {
    io.verdict({ verdict: 'TAMPERED', detail: `${findings - MOST_PRINTED} more findings` })
  }
  return findings === 0
}

function countsText(counts: Counts): string {
  const parts = Object.entries(counts).map(([subject, count]) => `${subject} ${count}`)
  return parts.length === 0 ? 'nothing to verify' : parts.join(', ')
}

interface LastOrder {
  readonly txn_id: string
  readonly created_at: Date
}

/** Tells which orders are the last: later ones are lost. */
async function sayLast({ url, lastCommit }: RecoveredServer, io: VerdictIo): Promise<void> {
  const connection = await connect({ url, applicationName: 'ledger restore' })
  try {
    const orders = await connection.sql<LastOrder[]>`
      SELECT txn_id, created_at FROM all_transactions ORDER BY created_at DESC, txn_id DESC LIMIT ${LAST_ORDERS}`
    if (lastCommit !== undefined) io.err(`the last commit was at ${lastCommit}\n`)
    if (orders.length === 0) io.err('there are no orders\n')
    else io.err('the last orders, newest first:\n')
    for (const { txn_id: txnId, created_at: at } of orders) {
      io.err(`  ${shownText(txnId)}  received at ${at.toISOString()}\n`)
    }
  } finally {
    await connection.end()
  }
}
