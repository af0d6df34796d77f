/** Replies to bodies that this node cannot read (F3, F4 of wire.ts), and logs them. */
import type { Log } from '../../ports/log.ts'
import { isCount, isRecord } from '../../../actors/shapes.ts'
import { parsed, UNSUPPORTED_VERSION } from '../../protocol/wire.ts'

export type Form = 'items' | 'deliveries' | 'calls'

export type Unsupported = ReturnType<typeof createUnsupported>

/** Limit of log lines per process: peers choose the versions. */
const MAX_LINES = 100

/** Logs one line for each form and version, however many such bodies arrive. */
export function createUnsupported(log: Log) {
  const noted = new Set<string>()
  /** `version`: the body's version; null if it has none. */
  function note(form: Form, version: number | null): void {
    const line = `${form} ${version}`
    if (noted.has(line) || noted.size >= MAX_LINES) return
    noted.add(line)
    log.error('version_unsupported', { form, version })
  }
  return {
    note,
    /** Replies to a body that cannot be read at all. */
    answer: (form: Form, text: string, reply: (text: string) => void): void => {
      const frame = parsed(text)
      const version = isRecord(frame) ? frame['version'] : null
      note(form, isCount(version) ? version : null)
      reply(UNSUPPORTED_VERSION)
    },
  }
}
