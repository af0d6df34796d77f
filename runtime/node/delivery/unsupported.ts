/** Replies to bodies that this node cannot read (F3, F4 of wire.ts), and logs them. */
import type { Log } from '../../ports/log.ts'
import { isCount, isRecord } from '../../shapes.ts'
import { parsed, UNSUPPORTED_VERSION } from '../../wire.ts'

export type Form = 'items' | 'deliveries' | 'calls'

export interface Unsupported {
  /** Replies to a body that cannot be read at all. */
  readonly answer: (form: Form, text: string, reply: (text: string) => void) => void
  /** `version`: the body's version; null if it has none. */
  readonly note: (form: Form, version: number | null) => void
}

/** Limit of log lines per process: peers choose the versions. */
const MAX_LINES = 100

/** Logs one line for each form and version, however many such bodies arrive. */
export function createUnsupported(log: Log): Unsupported {
  const noted = new Set<string>()
  const note: Unsupported['note'] = (form, version) => {
    const line = `${form} ${version}`
    if (noted.has(line) || noted.size >= MAX_LINES) return
    noted.add(line)
    log.error('version_unsupported', { form, version })
  }
  return {
    note,
    answer: (form, text, reply) => {
      const frame = parsed(text)
      const version = isRecord(frame) ? frame['version'] : null
      note(form, isCount(version) ? version : null)
      reply(UNSUPPORTED_VERSION)
    },
  }
}
