/** Reports witnesses that do not sign, once until something changes: a head is tried again every second. */
import type { Log } from '../../runtime/ports/log.ts'
import { redactUrl } from '../config/redact-url.ts'
import type { WitnessReply } from './log-publisher.ts'

const LONGEST_TEXT = 200

export class WitnessFailures {
  private readonly log: Pick<Log, 'warn'>
  /** The last report by the name of the witness. */
  private readonly reported = new Map<string, string>()

  constructor(log: Pick<Log, 'warn'>) {
    this.log = log
  }

  /** The witness did not reply. */
  silent(witness: string, url: string, error: unknown): void {
    this.report('witness_silent', witness, { url: redactUrl(url), reason: reasonOf(error) })
  }

  refused(witness: string, { status, body }: WitnessReply): void {
    this.report('witness_refused', witness, { status, text: firstLine(body) })
  }

  /** The witness signs. */
  ended(witness: string): void {
    this.reported.delete(witness)
  }

  private report(event: string, witness: string, fields: Readonly<Record<string, string | number>>): void {
    const report = JSON.stringify([event, fields])
    if (this.reported.get(witness) === report) return
    this.reported.set(witness, report)
    this.log.warn(event, { witness, ...fields })
  }
}

/** Such as ECONNREFUSED or TimeoutError. Messages may quote what another machine sent. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function firstLine(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1)
  return line
    .trimEnd()
    .slice(0, LONGEST_TEXT)
    .replace(/[^\x20-\x7e]/g, '?')
}
