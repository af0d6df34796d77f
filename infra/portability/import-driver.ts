/**
 * Completes an import: checks all parts, stages every record at its actor, decides, and applies or drops the records.
 * A drive may stop at any point, and several drives may run concurrently.
 *   E1. One change of status accepts the import, after all records are staged. No actor can refuse afterwards.
 *   E2. Another change of the same status refuses it. Only one of the two can take place.
 *   E3. An NFT is imported together with its owner, or both existed before. An account counts its NFTs as it is imported.
 *   E4. A request to stage a record may arrive after the request to drop it. Every drive therefore drops its records once
 *       more, and another drive does so after all requests have expired.
 *   E5. All imports of a ledger together bring no more of a token than that ledger's stated supply.
 */
import { setImmediate } from 'node:timers/promises'
import { invariant } from '../../actors/result.ts'
import type { RecordKind, UsedKeysRecord } from '../../api/schemas/requests/export-records.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { ImportRefusal } from '../../runtime/ports/ledger-imports.ts'
import { type PartWork, workOf } from './import-commands.ts'
import { BroughtSums } from './import-brought.ts'
import type { ImportHead } from './import-documents.ts'
import { DriveStopped, type HomesOptions, ImportHomes, ImportMovedOn } from './import-homes.ts'
import type { ImportStore } from './import-store.ts'
import { type ImportIndex, ImportSurvey } from './import-survey.ts'

export interface DriverOptions extends Omit<HomesOptions, 'store'> {
  readonly store: ImportStore
  readonly log: Log
}

/** Passes over the parts in their order, with the kinds of records that each handles. `hold` stages them. */
const PASSES = {
  hold: ['token', 'nft_class', 'nft_instance', 'attestation', 'account'],
  used_keys: ['used_keys'],
  registries: ['token', 'nft_class'],
  accounts: ['account'],
  instances: ['nft_instance'],
  attestations: ['attestation'],
} as const satisfies Record<string, readonly RecordKind[]>
type Pass = keyof typeof PASSES

interface Step {
  readonly pass: Pass
  readonly part: number
}

interface Plan {
  readonly index: ImportIndex
  /** Steps of the pass `hold` come first. */
  readonly steps: readonly Step[]
  readonly holds: number
}

/** One attempt to complete one import. */
export class ImportDrive {
  private readonly options: DriverOptions
  private readonly importId: string
  private plan: Plan | undefined
  /** This drive has asked actors to stage records, and some outcomes may be unknown (E4). */
  private hasStaged = false
  /** Whether each account of the last used keys existed before the import. */
  private present: ReadonlyMap<string, boolean> = new Map()

  constructor(options: DriverOptions, importId: string) {
    this.options = options
    this.importId = importId
  }

  /** Returns once the import has ended or waits for parts. Throws the error that stops it. */
  async run(): Promise<void> {
    for (;;) {
      if (this.options.stopping()) throw new DriveStopped('the edge stops')
      const head = await this.options.store.head(this.importId)
      if (head === undefined) return
      try {
        if (await this.step(head)) return
      } catch (error) {
        if (!(error instanceof ImportMovedOn)) throw error
      }
    }
  }

  /** Drops staged records of a refused import for good. Call it after all its requests have expired (E4). */
  async settle(): Promise<void> {
    const { store } = this.options
    const head = await store.head(this.importId)
    if (head?.status !== 'refused') return
    await this.drop(head)
    await store.settle(this.importId)
  }

  /** Whether the drive is over. */
  private async step(head: ImportHead): Promise<boolean> {
    switch (head.status) {
      case 'staging':
      case 'done':
        return true
      case 'checking':
        return this.check(head)
      case 'applying':
        return this.hold(head)
      case 'taking':
        return this.take(head)
      case 'refusing':
        return this.refuse(head)
      case 'refused':
        if (this.hasStaged) await this.drop(head)
        this.hasStaged = false
        return true
    }
  }

  private async check(head: ImportHead): Promise<false> {
    const { store } = this.options
    const surveyed = await this.survey(head)
    if (surveyed.ok) {
      const { steps } = this.planOf(head, surveyed.index)
      await store.change(head, { ...head, status: 'applying', position: 0, total: steps.length })
      return false
    }
    // No actor has staged anything yet, so there is nothing to drop.
    await store.change(head, { ...head, status: 'refused', refusal: surveyed.refusal }, { ends: true })
    return false
  }

  private async hold(head: ImportHead): Promise<false> {
    const { store } = this.options
    const plan = await this.planFor(head)
    const step = plan.steps[head.position]
    if (step === undefined || head.position >= plan.holds) {
      const { parted, sums } = await this.findArrivals(head, plan)
      if (parted !== undefined) await this.decideAgainst(head, parted)
      else await store.decide(head, (taken) => decided(head, sums, taken))
      return false
    }
    const work = await this.workFor(head, step.part)
    this.hasStaged = true
    const held = await this.homes(head).hold(work)
    if (held.kind === 'refused') await this.decideAgainst(head, held.refusal)
    else
      await store.change(
        head,
        { ...head, position: head.position + 1 },
        { found: { part: step.part, present: held.present } },
      )
    return false
  }

  /** `parted`: refusal of an NFT that is separated from its owner (E3), or undefined. `sums`: for E5. */
  private async findArrivals(
    head: ImportHead,
    { steps, holds }: Plan,
  ): Promise<{ readonly parted: ImportRefusal | undefined; readonly sums: BroughtSums }> {
    const sums = new BroughtSums()
    const accounts = new Set<string>()
    const owned: { readonly line: number; readonly owner: string; readonly isHere: boolean }[] = []
    for (const { part } of steps.slice(0, holds)) {
      const { homecomings } = await this.workFor(head, part)
      const here = new Set((await this.options.store.present(this.importId, part))?.records)
      for (const homecoming of homecomings) {
        const { line, actor, arrival } = homecoming
        sums.see(homecoming, here.has(line))
        if (arrival.kind === 'account' && here.has(line)) accounts.add(actor.id)
        if (arrival.kind !== 'instance' || arrival.instance.status === 'burned') continue
        owned.push({ line, owner: arrival.instance.owner, isHere: here.has(line) })
      }
    }
    const parted = owned.find(({ owner, isHere }) => accounts.has(owner) !== isHere)
    if (parted === undefined) return { parted, sums }
    const { line, isHere } = parted
    const detail = isHere ? 'it is here already, and its owner is not' : 'its owner is here already, without it'
    return { parted: { kind: 'exists', field: `lines[${line}].owner`, detail: `line ${line}: ${detail}.` }, sums }
  }

  /** E2. Retries if another drive has advanced the position meanwhile. */
  private async decideAgainst(seen: ImportHead, refusal: ImportRefusal): Promise<void> {
    const { store } = this.options
    let head: ImportHead | undefined = seen
    while (head?.status === 'applying') {
      if (await store.change(head, { ...head, status: 'refusing', refusal })) return
      head = await store.head(this.importId)
    }
  }

  private async take(head: ImportHead): Promise<boolean> {
    const { store } = this.options
    const plan = await this.planFor(head)
    const step = plan.steps[head.position]
    if (step === undefined) {
      const present = await this.countPresent(plan)
      const summary = { ...plan.index.counts, present }
      await store.change(head, { ...head, status: 'done', summary }, { ends: true })
      return false
    }
    await this.takeStep(head, step)
    await store.change(head, { ...head, position: head.position + 1 })
    return false
  }

  private async takeStep(head: ImportHead, { pass, part }: Step): Promise<void> {
    const { store } = this.options
    invariant(pass !== 'hold', 'an import is taken after all of it is held')
    const { homecomings, usedKeys, attestations } = await this.workFor(head, part)
    const homes = this.homes(head)
    if (pass === 'used_keys') {
      return homes.noteUsedKeys(usedKeys, await this.presentAccounts(head, part, usedKeys))
    }
    const present = await store.present(this.importId, part)
    if (present === undefined) return this.isGone(head, part)
    if (pass === 'attestations') return homes.addAttestations(attestations)
    const kinds: ReadonlySet<RecordKind> = new Set(PASSES[pass])
    return homes.take(
      homecomings.filter(({ kind }) => kinds.has(kind)),
      present,
    )
  }

  /** Used keys may be many parts after their account. */
  private async presentAccounts(head: ImportHead, part: number, used: readonly UsedKeysRecord[]) {
    const { store } = this.options
    const sought = new Set(used.map((record) => record.account_id))
    const found = new Map([...this.present].filter(([accountId]) => sought.has(accountId)))
    for (let at = part; at >= 0 && found.size < sought.size; at -= 1) {
      const { homecomings } = await this.workFor(head, at)
      const lines = new Set((await store.present(this.importId, at))?.records)
      for (const { kind, line, actor } of homecomings) {
        if (kind === 'account' && sought.has(actor.id)) found.set(actor.id, lines.has(line))
      }
    }
    this.present = found
    return (accountId: string): boolean => found.get(accountId) === true
  }

  private async countPresent({ steps, holds }: Plan): Promise<number> {
    let count = 0
    for (const { part } of steps.slice(0, holds)) {
      count += (await this.options.store.present(this.importId, part))?.records.length ?? 0
    }
    return count
  }

  private async refuse(head: ImportHead): Promise<boolean> {
    await this.drop(head)
    this.hasStaged = false
    await this.options.store.change(head, { ...head, status: 'refused' })
    return false
  }

  private async drop(head: ImportHead): Promise<void> {
    const { steps, holds } = await this.planFor(head)
    const homes = this.homes(head)
    for (const { part } of steps.slice(0, holds)) {
      const { homecomings } = await this.workFor(head, part)
      await homes.drop(homecomings)
    }
  }

  /** Another drive may have ended the import and removed its parts. Otherwise the data is lost. */
  private async isGone({ status }: ImportHead, part: number): Promise<never> {
    const now = await this.options.store.head(this.importId)
    if (now?.status === status) throw new Error(`part ${part} of an import is gone`)
    throw new ImportMovedOn('the import has moved on')
  }

  private homes(head: ImportHead): ImportHomes {
    return new ImportHomes(this.options, head)
  }

  private async workFor(head: ImportHead, part: number): Promise<PartWork> {
    const { index } = await this.planFor(head)
    const staged = await this.options.store.part(this.importId, part)
    if (staged === undefined) return this.isGone(head, part)
    return workOf(staged, { importId: this.importId, source: head.source, index })
  }

  /** Throws when a checked import no longer passes the survey. */
  private async planFor(head: ImportHead): Promise<Plan> {
    if (this.plan !== undefined) return this.plan
    const surveyed = await this.survey(head)
    if (!surveyed.ok) throw new Error('the staged parts of an import fail a check that they passed before')
    return this.planOf(head, surveyed.index)
  }

  private planOf({ nextPart }: ImportHead, index: ImportIndex): Plan {
    const parts = Array.from({ length: nextPart }, (_, part) => part)
    const stepsOf = (pass: Pass): readonly Step[] =>
      parts.filter((part) => PASSES[pass].some((kind) => index.kinds[part]?.has(kind))).map((part) => ({ pass, part }))
    const steps = (Object.keys(PASSES) as readonly Pass[]).flatMap(stepsOf)
    this.plan = { index, steps, holds: steps.filter(({ pass }) => pass === 'hold').length }
    return this.plan
  }

  private async survey(head: ImportHead): Promise<ReturnType<ImportSurvey['end']>> {
    const { store, stopping } = this.options
    const survey = new ImportSurvey()
    for (let part = 0; part < head.nextPart; part += 1) {
      if (stopping()) throw new DriveStopped('the edge stops')
      const staged = await store.part(this.importId, part)
      if (staged === undefined) return this.isGone(head, part)
      survey.take(staged)
      await setImmediate()
    }
    return survey.end()
  }
}

/** E1, E2, E5. */
function decided(head: ImportHead, sums: BroughtSums, taken: readonly ImportHead[]): ImportHead {
  const refusal = sums.refusal(taken)
  return refusal === undefined
    ? { ...head, status: 'taking', brought: sums.brought() }
    : { ...head, status: 'refusing', refusal }
}
