/** How what was thrown gets into the log: where it happened, and never what the request held (R2). */
import { AccessStoreUnavailable } from '../../runtime/ports/access-store.ts'
import { AdministrativeChainUnavailable } from '../../runtime/ports/administrative-chain.ts'
import { AssertionUnavailable } from '../../runtime/ports/assertion-source.ts'
import { AttestationStoreUnavailable } from '../../runtime/ports/attestation-store.ts'
import { EventsUnavailable } from '../../runtime/ports/ledger-events.ts'
import { ExportsUnavailable } from '../../runtime/ports/ledger-exports.ts'
import { LedgerImportsUnavailable } from '../../runtime/ports/ledger-imports.ts'
import { ReadsUnavailable } from '../../runtime/ports/ledger-reads.ts'
import { LogStoreUnavailable } from '../../runtime/ports/log-store.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { ShardHealthUnavailable } from '../../runtime/ports/shard-health.ts'
import { fieldsOf, type Trail } from '../../runtime/ports/trail.ts'
import { WebhookStoreUnavailable } from '../../runtime/ports/webhook-store.ts'
import { SlotsExhausted } from '../../runtime/common/slots.ts'

/** Errors of ports whose service is unavailable, and of resource limits that are reached. */
const EXPECTED = [
  ReadsUnavailable,
  AccessStoreUnavailable,
  AdministrativeChainUnavailable,
  AttestationStoreUnavailable,
  AssertionUnavailable,
  ShardHealthUnavailable,
  EventsUnavailable,
  LogStoreUnavailable,
  ExportsUnavailable,
  LedgerImportsUnavailable,
  WebhookStoreUnavailable,
  SlotsExhausted,
]
/** Frames of a stack that are logged. */
const MAX_FRAMES = 6

/** An expected failure of a port is a warning without a trace; anything else is an error with its place. */
export function logFailure(log: Log, error: unknown, trail: Trail, method: string): void {
  const fields = { ...fieldsOf(trail), method, failure: error instanceof Error ? error.name : typeof error }
  if (EXPECTED.some((known) => error instanceof known)) {
    log.warn('port_unavailable', fields)
    return
  }
  log.error('request_failed', { ...fields, at: error instanceof Error ? framesOf(error) : '' })
}

/** Where, without what: messages may quote what a request held. */
function framesOf(error: Error): string {
  const stack = error.stack ?? ''
  const traceStart = stack.startsWith(String(error)) ? String(error).length : stack.indexOf('\n    at ')
  return traceStart < 0
    ? ''
    : stack
        .slice(traceStart)
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.startsWith('at '))
        .slice(0, MAX_FRAMES)
        .join(' | ')
}
