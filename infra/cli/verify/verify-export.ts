/** `ledger verify` of what `ledger export` wrote: whether it is whole and the ledger's, and what it holds. */
import { openSync, closeSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkExport, type CheckedExport, type ExportSummary } from '../../portability/export-check.ts'
import { LinesBroken, linesOf } from '../../portability/export-file.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { parseStrictJson } from '../../../api/http/json-text.ts'
import { CommandFailed, type CommandIo } from '../common/command.ts'
import { unfitOf } from './jwks-fit.ts'
import { inLineNames, lineName } from '../common/line-words.ts'
import type { ReceiptKeys } from './verify-receipt.ts'

const HEAD_BYTES = 8_192
/** Members of a line, as canonical JSON writes them; of nothing else that is saved of the interface. */
const LINE = /^\{.*"previous_hash":"sha256:.*"record":"/

/** Whether the file begins as an export does. `name`: - for standard input, where none can be told. */
export function isExport(name: string, io: CommandIo): boolean {
  if (name === '-') return false
  try {
    const file = openSync(resolve(io.cwd, name), 'r')
    try {
      const head = Buffer.alloc(HEAD_BYTES)
      const [line = ''] = head.toString('utf8', 0, readSync(file, head, 0, HEAD_BYTES, 0)).split('\n', 1)
      return LINE.test(line)
    } finally {
      closeSync(file)
    }
  } catch {
    // Whoever reads it says why it cannot be read.
    return false
  }
}

/** `unchecked`: the JWKS does not tell. */
export type CheckedFile =
  | { readonly ok: true; readonly summary: ExportSummary }
  | { readonly ok: false; readonly unchecked: boolean; readonly problem: string }

/** Whether it holds. Throws CommandFailed when the file cannot be read. */
export async function verifyExport(name: string, keys: ReceiptKeys, io: CommandIo): Promise<boolean> {
  const checked = await checkExportFile(resolve(io.cwd, name), name, keys)
  if (checked.ok) io.out(`ok: ${summaryText(checked.summary)}\n`)
  else io.out(`${checked.unchecked ? 'NOT CHECKED' : 'TAMPERED'}: ${name}: ${checked.problem}\n`)
  return checked.ok
}

/** What it holds, or what is wrong with it. Throws CommandFailed. `name`: for messages. */
export async function checkExportFile(path: string, name: string, keys: ReceiptKeys): Promise<CheckedFile> {
  let checked: CheckedExport
  let last = ''
  async function* seen(): AsyncGenerator<string, void, undefined> {
    for await (const line of linesOf(path)) {
      last = line
      yield line
    }
  }
  try {
    checked = await checkExport(seen(), keys)
  } catch (cause) {
    if (cause instanceof LinesBroken) return { ok: false, unchecked: false, problem: inLineNames(cause.message) }
    throw new CommandFailed(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
  if (checked.ok) return checked
  // It was read no further than to where the problem is: to the line that names the ledger, or the one that names the key.
  const unfit = unfitOf(signedIn(last), keys)
  if (unfit !== undefined) return { ok: false, unchecked: true, problem: unfit }
  return { ok: false, unchecked: false, problem: `${lineName(checked.problem.line)}: ${checked.problem.problem}` }
}

/** What the first line and the proof say of who signed; of any other line nothing. */
function signedIn(line: string): JsonObject {
  const parsed = parseStrictJson(line)
  if (!parsed.ok || parsed.value === null || typeof parsed.value !== 'object' || Array.isArray(parsed.value)) return {}
  const record = parsed.value as JsonObject
  return record['record'] === 'ledger' || record['record'] === 'proof' ? record : {}
}

export function summaryText({ ledger, proof, counts }: ExportSummary): string {
  const { ledger_id: ledgerId, audience, exported_at: exportedAt, mode, partial } = ledger
  const kinds = [
    `${counts.account} accounts`,
    `${counts.token} tokens`,
    `${counts.nft_class} NFT classes`,
    `${counts.nft_instance} NFTs`,
    `${counts.attestation} attestations`,
  ]
  const what = `${mode === 'move' ? 'move' : 'copy'} of ${partial ? 'some' : 'all'} accounts`
  return `export of ledger ${ledgerId} for ${audience}, ${what} at ${exportedAt}: ${kinds.join(', ')}; signed at ${proof.timestamp} for ${JSON.stringify(proof.requester)}`
}
