/** The result of `ledger verify`: a line for each verdict, and with --json an object. */
import type { CommandIo } from '../common/command.ts'
import { shownJson, shownText } from '../common/shown-text.ts'

/** `UNEXPECTED`: valid, but not of the requested account, transaction or ledger. The last ones are of `ledger monitor`. */
export type VerdictWord =
  | 'ok'
  | 'TAMPERED'
  | 'INCOMPLETE'
  | 'NOT CHECKED'
  | 'UNEXPECTED'
  | 'UNREADABLE'
  | 'WENT BACK'
  | 'UNTRUSTED'
  | 'FORKED'
  | 'STALE'
  | 'MISSING'
  | 'NOT SHOWN'

export interface VerdictLine {
  readonly verdict: VerdictWord
  /** May contain text of strangers. */
  readonly detail: string
  /** Further members with --json. */
  readonly facts?: object
}

export interface VerdictIo extends CommandIo {
  /** Escapes the detail, so that text of strangers cannot write lines of its own. */
  readonly verdict: (line: VerdictLine) => void
}

export function verdictIo(io: CommandIo, json: boolean): VerdictIo {
  const textOf = ({ verdict, detail, facts }: VerdictLine): string =>
    json
      ? shownJson({ ok: verdict === 'ok', verdict: verdict.toLowerCase().replaceAll(' ', '_'), detail, ...facts })
      : `${verdict}: ${shownText(detail)}`
  return { ...io, verdict: (line) => io.out(`${textOf(line)}\n`) }
}
