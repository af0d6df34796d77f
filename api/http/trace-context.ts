/**
 * W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/), as headers of a request.
 *   C1. A malformed header counts as absent.
 *   C2. A `tracestate` that is malformed, or longer than 512 characters, is dropped, and the `traceparent` stays.
 */
import { newSpanId, type TraceContext } from '../../runtime/ports/trail.ts'
import type { Random } from '../../runtime/ports/random.ts'

/** Section 3.2.2: version, trace ID, parent ID, flags; a version above 00 may have more. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ALL_ZERO = /^0+$/
const INVALID_VERSION = 'ff'
const SAMPLED_FLAG = 0x01

/** Section 3.3.1.5: the length that every implementation must propagate. */
const MAX_STATE_LENGTH = 512
const MAX_STATE_MEMBERS = 32
/** Section 3.3.1.3: a key, alone or of a tenant in a system; and its value, without a blank at its end. */
const STATE_MEMBER =
  /^([a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/** Headers as they came; what came twice is one value with a comma. The span is a new one, of this hop. */
export function readTraceContext(
  traceparent: string | undefined,
  tracestate: string | undefined,
  random: Pick<Random, 'hex'>,
): TraceContext | undefined {
  const [, version, traceId, parentSpanId, flags, more] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (version === undefined || traceId === undefined || parentSpanId === undefined || flags === undefined) {
    return undefined
  }
  if (version === INVALID_VERSION || (version === '00' && more !== undefined)) return undefined
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(parentSpanId)) return undefined
  const sampled = (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0
  return { traceId, spanId: newSpanId(random), parentSpanId, sampled, state: readState(tracestate ?? '') }
}

function readState(text: string): string {
  if (text.length > MAX_STATE_LENGTH) return ''
  // Empty members are allowed, and say nothing.
  const members = text
    .split(',')
    .map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '')
  const keys = members.map((member) => STATE_MEMBER.exec(member)?.[1])
  const distinct = new Set(keys)
  const sound = members.length <= MAX_STATE_MEMBERS && !distinct.has(undefined) && distinct.size === keys.length
  return sound ? members.join(',') : ''
}
