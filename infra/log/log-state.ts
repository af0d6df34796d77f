/** The stored and the published head of the log, as commands read them. */
import type postgres from 'postgres'
import { type LogHead, parseCheckpoint } from '../../api/client/log/checkpoint.ts'
import { parseNote, verifySignatures } from '../../api/client/log/signed-note.ts'
import type { DeriveKey } from '../keys/root-secret.ts'
import { createNoteSigner } from './log-signer.ts'

export interface LogState {
  /** Undefined: the log is empty. */
  readonly head: { readonly size: number; readonly root: Buffer } | undefined
  /** The signed note of the newest published head. */
  readonly published: string | undefined
}

export async function readLogState(sql: postgres.ISql): Promise<LogState> {
  const [head] = await sql.unsafe<{ size: string; root: Buffer }[]>('SELECT size, root FROM log_head')
  const [published] = await sql.unsafe<{ note: string }[]>('SELECT note FROM log_published')
  return { head: head && { size: Number(head.size), root: head.root }, published: published?.note }
}

/** The head in a note. Undefined unless this ledger signed it, under whatever name its log has. */
export async function ownHeadOf(text: string, derive: DeriveKey): Promise<LogHead | undefined> {
  const note = parseNote(text)
  const head = note && parseCheckpoint(note.text)
  if (note === undefined || head === undefined) return undefined
  const { key } = await createNoteSigner(head.origin, 'log', derive('log-heads'))
  const own = note.signatures.filter(({ name, keyId }) => name === key.name && keyId === key.id)
  const isSigned = own.length > 0 && (await verifySignatures({ ...note, signatures: own }, [key])) !== undefined
  return isSigned ? head : undefined
}
