/**
 * Accepts the parts of an import in order. After the last part the request waits while the import is applied.
 *   T1. A part is checked against the file before it, and stored only if the file has not changed meanwhile.
 *   T2. A repeated part is not stored again. The reply describes the import's current state.
 */
import type { LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { AttestationStore } from '../../runtime/ports/attestation-store.ts'
import type { Clock, Timer } from '../../runtime/ports/clock.ts'
import type {
  ImportOutcome,
  ImportPart,
  ImportRefusal,
  ImportStatus,
  LedgerImports,
} from '../../runtime/ports/ledger-imports.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { ImportKeys, ServiceKeys } from '../../runtime/ports/service-keys.ts'
import { canonicalJson } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import type { TrustedLedgers } from '../config/trusted-ledgers.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { createImportedAttestations } from './import-attestations.ts'
import type { ImportHead } from './import-documents.ts'
import { type CheckedPart, checkPart, type PartContext } from './import-part.ts'
import { createImportStore, type ImportStore } from './import-store.ts'
import { createImportTakeup } from './import-takeup.ts'

export interface PostgresLedgerImports extends LedgerImports {
  /** Begins to take over imports that no edge drives. */
  readonly start: () => void
  readonly close: () => Promise<void>
}

export interface LedgerImportsOptions {
  readonly url: string
  readonly ledgerId: string
  readonly vault: RowVault
  readonly trusted: TrustedLedgers
  readonly keys: ImportKeys
  readonly serviceKeys: ServiceKeys
  readonly gateway: LedgerGateway
  readonly attestations: Pick<AttestationStore, 'attestation'>
  readonly clock: Clock
  readonly log: Log
}

export function createLedgerImports(options: LedgerImportsOptions): PostgresLedgerImports {
  const { url, ledgerId, vault, trusted, keys, serviceKeys, gateway, clock, log } = options
  const store = createImportStore({ url, vault })
  const attestations = createImportedAttestations({
    url,
    vault,
    attestations: options.attestations,
    serviceKeys,
    clock,
  })
  const takeup = createImportTakeup({ store, gateway, attestations, clock, log })
  const intake = createImportIntake({ store, context: { ledgerId, trusted, keys }, keys, clock, drive: takeup.drive })
  return {
    ...intake,
    start: takeup.start,
    close: async () => {
      await takeup.stop()
      await Promise.all([store.close(), attestations.close()])
    },
  }
}

export interface IntakeOptions {
  readonly store: ImportStore
  readonly context: PartContext
  readonly keys: Pick<ImportKeys, 'current'>
  readonly clock: Clock
  /** Completes the import. */
  readonly drive: (importId: string) => Promise<void>
  /** Longest wait of a request for the end, in milliseconds. */
  readonly waitMs?: number
}

const WAIT_MS = 25_000
const MAX_PARTS = 10_000

export function createImportIntake(options: IntakeOptions): LedgerImports {
  const intake = new ImportIntake(options)
  return {
    key: () => options.keys.current(),
    take: (part) => intake.take(part),
    status: async (importId) => {
      const head = await options.store.head(importId)
      return head === undefined ? undefined : statusOf(head)
    },
  }
}

class ImportIntake {
  private readonly options: IntakeOptions

  constructor(options: IntakeOptions) {
    this.options = options
  }

  async take(part: ImportPart): Promise<ImportOutcome> {
    const { store } = this.options
    for (;;) {
      const head = await store.head(part.importId)
      const beginsAnew = head?.status === 'refused' && part.part === 0
      if (head === undefined || beginsAnew) {
        if (part.part > 0) return conflict('The import has not begun. Send part 0 first.')
        const outcome = await this.begin(part, head)
        if (outcome !== 'moved') return outcome
        continue
      }
      if (part.part < head.nextPart) return this.repeat(head, part)
      if (head.status !== 'staging') return conflict(`The import is complete with ${head.nextPart} parts.`)
      if (part.part > head.nextPart) return conflict(`Part ${head.nextPart} comes next.`)
      const outcome = await this.append(head, part)
      if (outcome !== 'moved') return outcome
    }
  }

  /** T1. `refused`: an earlier import with this ID that was refused. */
  private async begin(part: ImportPart, refused: ImportHead | undefined): Promise<ImportOutcome | 'moved'> {
    const { store, context } = this.options
    const verdict = await checkPart(part.records, part.last, undefined, context)
    if (!verdict.ok) return refusalOf(verdict.refusal)
    const head = headAfter(part, verdict.part)
    switch (await store.begin(head, this.newPart(part, verdict.part))) {
      case 'begun':
        return part.last ? this.end(part.importId) : statusOf(head)
      case 'full':
        return conflict('Too many imports are being staged. Complete them, or wait until they are dropped after a day.')
      case 'taken':
        // The refused import has not settled: requests of it may still arrive at actors.
        return refused?.refusal ?? 'moved'
    }
  }

  private async append(before: ImportHead, part: ImportPart): Promise<ImportOutcome | 'moved'> {
    const { store, context } = this.options
    if (part.part >= MAX_PARTS) return conflict(`An import has at most ${MAX_PARTS} parts.`)
    const verdict = await checkPart(part.records, part.last, before, context)
    if (!verdict.ok) {
      // A fault in the last part itself can be corrected and the part sent again.
      const isOwn = verdict.refusal === 'ill_formed' || verdict.refusal.kind === 'invalid'
      if (part.last && !isOwn) await store.discard(before)
      return refusalOf(verdict.refusal)
    }
    const after = headAfter(part, verdict.part)
    if (!(await store.change(before, after, { next: this.newPart(part, verdict.part) }))) return 'moved'
    return part.last ? this.end(part.importId) : statusOf(after)
  }

  private newPart(part: ImportPart, { staged: content }: CheckedPart) {
    return { part: part.part, content: this.contentOf(part), staged: content }
  }

  private contentOf({ importId, last, records }: ImportPart): string {
    const lines = records.map(({ record }) => canonicalJson(record))
    return this.options.store.contentRef(importId, [String(last), ...lines].join('\n'))
  }

  /** T2. */
  private async repeat(head: ImportHead, part: ImportPart): Promise<ImportOutcome> {
    const { store } = this.options
    const { importId } = head
    if ((await store.contentOf(importId, part.part)) !== this.contentOf(part)) {
      return conflict(`Part ${part.part} exists with different content.`)
    }
    if (head.status !== 'staging') return this.end(importId)
    const first = part.records[0]?.record['line']
    const lines = (typeof first === 'number' ? first : 0) + part.records.length
    return { ...statusOf(head), nextPart: part.part + 1, lines }
  }

  private async end(importId: string): Promise<ImportOutcome> {
    const { store, drive, clock, waitMs = WAIT_MS } = this.options
    let timer: Timer | undefined
    const waited = new Promise<void>((resolve) => void (timer = clock.after(waitMs, resolve)))
    await Promise.race([drive(importId), waited])
    timer?.cancel()
    const head = await store.head(importId)
    if (head === undefined) return conflict('The import no longer exists.')
    const status = statusOf(head)
    return status.refusal ?? status
  }
}

function headAfter({ importId, part, last, caller }: ImportPart, { source, end }: CheckedPart): ImportHead {
  return {
    importId,
    status: last ? 'checking' : 'staging',
    nextPart: part + 1,
    position: 0,
    total: 0,
    source,
    end,
    caller,
    summary: null,
    refusal: null,
    brought: null,
  }
}

function conflict(detail: string): ImportOutcome {
  return { kind: 'conflict', field: 'part', detail }
}

function refusalOf(refusal: ImportRefusal | 'ill_formed'): ImportRefusal {
  return refusal === 'ill_formed' ? { kind: 'invalid', faults: [] } : refusal
}

function statusOf({ status, nextPart, end, position, total, summary, refusal }: ImportHead): ImportStatus {
  const shown = status === 'refused' ? refusal : null
  invariant(status !== 'done' || summary !== null, 'an import has ended without a summary')
  invariant(status !== 'refused' || shown !== null, 'an import was refused without a reason')
  return { phase: status, nextPart, lines: end.lines, done: position, total, summary, refusal: shown }
}
