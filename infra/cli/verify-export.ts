/** `ledger verify` of what `ledger export` wrote: whether it is whole and the ledger's, and what it holds. */
import { openSync, closeSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkExport, type CheckedExport, type ExportKeys, type ExportSummary } from '../portability/export-check.ts'
import { LinesBroken, linesOf } from '../portability/export-file.ts'
import { CommandFailed, type CommandIo } from './command.ts'

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

/** Whether it holds. Throws CommandFailed when the file cannot be read. */
export async function verifyExport(name: string, keys: ExportKeys, io: CommandIo): Promise<boolean> {
  const checked = await checkExportFile(resolve(io.cwd, name), name, keys)
  if (typeof checked === 'string') io.out(`TAMPERED: ${name}: ${checked}\n`)
  else io.out(`ok: ${summaryText(checked)}\n`)
  return typeof checked !== 'string'
}

/** What it holds, or what is wrong with it. Throws CommandFailed. `name`: for messages. */
export async function checkExportFile(path: string, name: string, keys: ExportKeys): Promise<ExportSummary | string> {
  let checked: CheckedExport
  try {
    checked = await checkExport(linesOf(path), keys)
  } catch (cause) {
    if (cause instanceof LinesBroken) return cause.message
    throw new CommandFailed(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
  if (checked.ok) return checked.summary
  return `line ${checked.problem.line}, counted from 0: ${checked.problem.problem}`
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
