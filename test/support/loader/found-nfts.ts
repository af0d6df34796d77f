/**
 * One class of NFTs, its issuer and its collectors. Each instance is minted to a collector; every second one is handed on
 * to the next, and every fifth of those is burned in the end.
 */
import { accountAddress, classAddress } from '../../../actors/address.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { ClassFacts } from '../../../actors/nft-class/state.ts'
import { AccountStamps, type LifeOptions, openAccount, signedBy, submitAll } from './account-life.ts'
import type { Drafting } from './drafting.ts'
import type { PlannedClass } from './load-plan.ts'

/** Orders that are under way at once, within a millisecond. */
const AT_ONCE = 50
const HANDED_ON = 2
/** A multiple: who burns it is who it was handed on to. */
const BURNED = 5 * HANDED_ON

const SCHEMA: JsonObject = {
  properties: { serial: { minimum: 0, type: 'integer' }, title: { maxLength: 64, type: 'string' } },
  required: ['serial', 'title'],
  type: 'object',
}

/** `onRegistered`: before anything of the class is ordered. */
export function foundNfts(
  drafting: Drafting,
  planned: PlannedClass,
  life: LifeOptions,
  onRegistered: (facts: ClassFacts) => void,
): void {
  const { plan, span, random } = life
  const accounts = [planned.issuer, ...planned.collectors]
  for (const number of accounts) {
    openAccount(drafting, number, drafting.stampAt(accountAddress(plan.accountIdOf(number)), span.startMs), life)
  }
  const facts = registered(drafting, planned, life)
  onRegistered(facts)
  const lastMs = ordered(drafting, ordersOf(planned, facts.classId, life), life)
  for (const number of accounts) {
    const shardId = drafting.homeOf(accountAddress(plan.accountIdOf(number)))
    submitAll(drafting, number, new AccountStamps(shardId, random, lastMs), life)
  }
}

function registered(drafting: Drafting, { name, issuer }: PlannedClass, { plan, span }: LifeOptions): ClassFacts {
  const address = classAddress(name)
  const fields = { description: 'loaded', issuer: plan.accountIdOf(issuer), metadata_schema: SCHEMA, name }
  const operation = {
    kind: 'register_class',
    payload: canonicalJson(fields),
    signature: null,
    registrationKey: null,
  } as const
  drafting.request(address, operation, drafting.stampAt(address, span.startMs))
  drafting.settle(span.startMs)
  const state = drafting.state(address)
  if (state === null || !('metadataSchema' in state)) throw new Error(`the class ${name} was not registered`)
  return { classId: state.classId, issuer: state.issuer }
}

interface NftOrder {
  readonly kind: 'mint' | 'submit'
  /** The account that signs. */
  readonly number: number
  readonly fields: JsonObject
}

/** Of one instance each, one after another; what has no order any more is left out. */
function* ordersOf({ issuer, collectors, instances }: PlannedClass, classId: string, { plan }: LifeOptions) {
  const collector = (serial: number): number => collectors[serial % collectors.length] ?? issuer
  const nft = (serial: number) => ({ class_id: classId, instance_id: `nft-${serial}` })
  const moves = (serial: number, type: string) => ({
    ...nft(serial),
    type,
    amount: '1',
    idempotency_key: `${type}-${serial}`,
  })
  const serials = Array.from({ length: instances }, (_, serial) => serial)
  yield serials.map((serial): NftOrder => {
    const owner = plan.accountIdOf(collector(serial))
    const metadata = { serial, title: `No. ${serial}` }
    return {
      kind: 'mint',
      number: issuer,
      fields: { ...nft(serial), owner, metadata, idempotency_key: `nft-${serial}` },
    }
  })
  yield serials
    .filter((serial) => serial % HANDED_ON === 0)
    .map((serial): NftOrder => {
      const toAccountId = plan.accountIdOf(collector(serial + 1))
      return {
        kind: 'submit',
        number: collector(serial),
        fields: { ...moves(serial, 'transfer'), to_account_id: toAccountId },
      }
    })
  yield serials
    .filter((serial) => serial % BURNED === 0)
    .map((serial): NftOrder => ({ kind: 'submit', number: collector(serial + 1), fields: moves(serial, 'burn') }))
}

/** Gives and settles them, and the time of the last, milliseconds since 1970. */
function ordered(drafting: Drafting, rounds: Iterable<readonly NftOrder[]>, life: LifeOptions): number {
  const { plan, span } = life
  let atMs = span.startMs
  for (const orders of rounds) {
    for (let from = 0; from < orders.length; from += AT_ONCE) {
      atMs = Math.min(atMs + 1, span.endMs)
      for (const { kind, number, fields } of orders.slice(from, from + AT_ONCE)) {
        const account = accountAddress(plan.accountIdOf(number))
        drafting.request(account, ...signedBy(number, kind, fields, drafting.stampAt(account, atMs), life))
      }
      drafting.settle(atMs)
    }
  }
  return atMs
}
