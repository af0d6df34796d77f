/**
 * Which request provoked which error code, taken from the answers that came.
 *   T1. What is listed was answered: the code stood in `error_codes`, the status was the answer's.
 *   T2. The first request stands where several provoke a code.
 */
import type { HttpReply, HttpRequest } from '../../support/client.ts'
import { membersOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { type ErrorCodeRow, SPECIFICATION } from './specification.ts'

interface Provoked {
  readonly status: number
  readonly request: string
  readonly fault: string
}

export class CodeTable {
  private readonly provoked = new Map<ErrorCodeRow, Provoked>()

  /** Throws when the answer does not have the code. */
  note(code: ErrorCodeRow, { method, path }: HttpRequest, reply: HttpReply): void {
    const { error_codes: codes, errors, detail, status } = membersOf(reply)
    if (!Array.isArray(codes) || !codes.includes(code) || status !== reply.status) {
      throw new Error(`this does not raise ${code}: ${reply.status} ${reply.body}`)
    }
    const [first] = (errors ?? []) as readonly Members[]
    const fault = first === undefined ? String(detail) : `${String(first['field'])}: ${String(first['message'])}`
    if (!this.provoked.has(code)) this.provoked.set(code, { status: reply.status, request: `${method} ${path}`, fault })
  }

  /** Codes that nothing provoked. */
  unprovoked(): readonly ErrorCodeRow[] {
    return SPECIFICATION['Error codes'].filter((code) => !this.provoked.has(code))
  }

  toString(): string {
    const rows = SPECIFICATION['Error codes'].map((code) => {
      const { status, request, fault } = this.provoked.get(code) ?? {
        status: '-',
        request: '-',
        fault: 'nothing asked',
      }
      return [code, String(status), request, fault]
    })
    return tableOf([['code', 'HTTP', 'request', 'what was wrong with it'], ...rows])
  }
}

const LONGEST_CELL = 96

function tableOf(rows: readonly (readonly string[])[]): string {
  const cut = rows.map((row) =>
    row.map((cell) => (cell.length > LONGEST_CELL ? `${cell.slice(0, LONGEST_CELL)}…` : cell)),
  )
  const widths = (cut[0] ?? []).map((_, column) => Math.max(...cut.map((row) => row[column]?.length ?? 0)))
  return cut
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(' | ')
        .trimEnd(),
    )
    .join('\n')
}
