/**
 * Sends the operations of one part of an import to actors, with bounded concurrency. All operations are idempotent, and one
 * with an unknown outcome is repeated.
 *   H1. The import's status is read again every few seconds. A drive that was delayed therefore stages no records for an
 *       import that has moved on.
 *   H2. Every call returns only after all its requests have been answered.
 */
import { accountAddress, type ActorAddress } from '../../actors/address.ts'
import type { ArrivalState } from '../../actors/arrival.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { AttestationRecord, UsedKeysRecord } from '../../api/schemas/requests/export-records.ts'
import { untilFailure } from '../../runtime/common/in-parallel.ts'
import type { Operation } from '../../runtime/protocol/messages.ts'
import { type Clock, delay } from '../../runtime/ports/clock.ts'
import type { LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { ImportRefusal } from '../../runtime/ports/ledger-imports.ts'
import type { ImportedAttestations } from './import-attestations.ts'
import { BARE_ACCOUNT, type Homecoming, type PartWork } from './import-commands.ts'
import type { ImportHead, Present } from './import-documents.ts'
import type { ImportStore } from './import-store.ts'

/** The import's status has changed; the drive must read it again. */
export class ImportMovedOn extends Error {
  override readonly name = 'ImportMovedOn'
}

/** The edge is stopping. */
export class DriveStopped extends Error {
  override readonly name = 'DriveStopped'
}

export interface HomesOptions {
  readonly store: Pick<ImportStore, 'touch'>
  readonly gateway: LedgerGateway
  readonly attestations: Pick<ImportedAttestations, 'look' | 'add'>
  readonly clock: Clock
  readonly stopping: () => boolean
}

export type HoldResult =
  | { readonly kind: 'held'; readonly present: Present }
  | { readonly kind: 'refused'; readonly refusal: ImportRefusal }

const AT_ONCE = 64
/** H1. Shorter than the gateway's deadline, within which every request is answered or expires. */
const CONFIRMED_FOR_MS = 5_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

export class ImportHomes {
  private readonly options: HomesOptions
  private readonly head: ImportHead
  private confirmedAt: number
  private confirming: Promise<void> | undefined

  /** `head`: just read from the store. */
  constructor(options: HomesOptions, head: ImportHead) {
    this.options = options
    this.head = head
    this.confirmedAt = options.clock.monotonic()
  }

  /** Stages all records. Ends early with the first refusal. */
  async hold({ homecomings, attestations }: PartWork): Promise<HoldResult> {
    const present: { records: number[]; issuers: number[] } = { records: [], issuers: [] }
    let refusal: ImportRefusal | undefined
    const refuse = (found: ImportRefusal): void => void (refusal ??= found)
    const isRefused = (): boolean => refusal !== undefined
    await untilFailure(
      homecomings,
      AT_ONCE,
      async ({ line, actor, from, arrival, issuer }) => {
        if (issuer !== null) {
          const home = accountAddress(issuer.accountId)
          const state = await this.ask(home, { kind: 'hold_arrival', from: issuer.from, arrival: BARE_ACCOUNT })
          if (typeof state !== 'string') return refuse(refusalOf(line, 'issuer', state))
          if (state === 'present') present.issuers.push(line)
        }
        const state = await this.ask(actor, { kind: 'hold_arrival', from, arrival })
        if (typeof state !== 'string') return refuse(refusalOf(line, null, state))
        if (state === 'present') present.records.push(line)
      },
      isRefused,
    )
    await untilFailure(
      attestations,
      AT_ONCE,
      async ({ line, attestation }) => {
        const found = await this.options.attestations.look(attestation)
        if (found === 'present') present.records.push(line)
        if (found === 'other') {
          const detail = `line ${line}: There is another attestation with this ID.`
          refuse({ kind: 'exists', field: `lines[${line}].attestation.attestation_id`, detail })
        }
      },
      isRefused,
    )
    return refusal === undefined ? { kind: 'held', present } : { kind: 'refused', refusal }
  }

  /** The parts of one account are sent in order. */
  async noteUsedKeys(used: readonly UsedKeysRecord[], isPresent: (accountId: string) => boolean): Promise<void> {
    const byAccount = new Map<string, UsedKeysRecord[]>()
    for (const record of used) {
      if (isPresent(record.account_id)) continue
      const parts = byAccount.get(record.account_id) ?? []
      byAccount.set(record.account_id, [...parts, record])
    }
    await untilFailure([...byAccount], AT_ONCE, async ([accountId, parts]) => {
      for (const { part, hashes } of parts) {
        const { importId } = this.head
        await this.demand(accountAddress(accountId), { kind: 'note_used_keys', importId, part, hashes })
      }
    })
  }

  async take(homecomings: readonly Homecoming[], present: Present): Promise<void> {
    const { importId } = this.head
    const records = new Set(present.records)
    const issuers = new Set(present.issuers)
    await untilFailure(homecomings, AT_ONCE, async ({ line, actor, issuer }) => {
      if (issuer !== null && !issuers.has(line)) {
        await this.demand(accountAddress(issuer.accountId), { kind: 'take_arrival', importId })
      }
      if (!records.has(line)) await this.demand(actor, { kind: 'take_arrival', importId })
    })
  }

  async addAttestations(records: readonly AttestationRecord[]): Promise<void> {
    await untilFailure(records, AT_ONCE, ({ attestation }) =>
      this.options.attestations.add(attestation, this.head.source.ledgerId),
    )
  }

  async drop(homecomings: readonly Homecoming[]): Promise<void> {
    const { importId } = this.head
    await untilFailure(homecomings, AT_ONCE, async ({ actor, issuer }) => {
      await this.demand(actor, { kind: 'drop_arrival', importId })
      if (issuer !== null) await this.demand(accountAddress(issuer.accountId), { kind: 'drop_arrival', importId })
    })
  }

  /** For operations that no actor may refuse. Throws on a refusal. */
  private async demand(actor: ActorAddress, operation: Operation): Promise<void> {
    const state = await this.ask(actor, operation)
    if (typeof state !== 'string') throw new Error(`an actor refused ${operation.kind}: ${state.code}`)
  }

  private async ask(actor: ActorAddress, operation: Operation): Promise<ArrivalState | Refused> {
    const { gateway, clock, stopping } = this.options
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if (stopping()) throw new DriveStopped('the edge stops')
      await this.confirmStatus()
      const outcome = await gateway.ask({ actor, caller: this.head.caller, operation })
      if (outcome.kind === 'answered') return stateOf(outcome.answer)
      await delay(clock, pauseMs)
    }
  }

  /** H1. */
  private confirmStatus(): Promise<void> {
    const { clock, store } = this.options
    if (clock.monotonic() - this.confirmedAt < CONFIRMED_FOR_MS) return Promise.resolve()
    this.confirming ??= (async () => {
      const askedAt = clock.monotonic()
      try {
        const status = await store.touch(this.head.importId)
        if (status !== this.head.status) throw new ImportMovedOn('the import has moved on')
        this.confirmedAt = askedAt
      } finally {
        this.confirming = undefined
      }
    })()
    return this.confirming
  }
}

type Refused = Extract<Answer, { kind: 'refused' }>

function stateOf(answer: Answer): ArrivalState | Refused {
  if (answer.kind === 'arrival') return answer.state
  if (answer.kind === 'refused') return answer
  throw new Error(`unexpected reply to an import: ${answer.kind}`)
}

function refusalOf(line: number, field: string | null, refused: Refused): ImportRefusal {
  const named = field ?? refused.field
  const at = `lines[${line}]`
  return {
    kind: 'exists',
    field: named === null ? at : `${at}.${named}`,
    detail: `line ${line}: ${refused.detail}`,
  }
}
