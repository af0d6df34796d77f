/** Patterns of event types (D23), as the bodies of requests have them. */
import { EVENT_NAMES } from '../../runtime/ports/ledger-events.ts'

export const MAX_EVENT_TYPES = 20

const TYPES = EVENT_NAMES.map((name) => `ledger.${name}.v1`)
const FAMILIES = new Set(EVENT_NAMES.map((name) => `ledger.${name.slice(0, name.indexOf('.'))}.*`))
/** A type such as `ledger.group.settled.v1`, or all of one kind, such as `ledger.group.*`. */
export const EVENT_TYPE_PATTERNS: readonly string[] = [...TYPES, ...FAMILIES]
