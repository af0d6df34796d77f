/**
 * The fields of every resource: each has its value wherever the resource is shown, and stands nowhere else. What a field
 * looks like is not asked here: every answer of the suite is held against the strict schemas of the document (witness.ts).
 */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { COLOURED, historyOf } from '../../support/client-nfts.ts'
import { funded } from '../../support/client-moves.ts'
import { told } from './cast.ts'
import { once } from './once.ts'
import type { Chapter, RowOf } from './specification.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

/** A resource by the places where it is shown. */
type Shown = Readonly<Record<string, Members>>

interface Field {
  readonly property: string
  /** The value, or a promise of it; with the place where that matters. */
  readonly value: (stage: Stage, place: string) => unknown
  /** Where it does not stand. */
  readonly notIn?: readonly string[]
}

type Fields<C extends Chapter> = Readonly<Partial<Record<RowOf<C>, Field>>>

function field(property: string, value: Field['value'], notIn: readonly string[] = []): Field {
  return { property, value, notIn }
}

function fieldsChapter<C extends Chapter>(
  suite: Suite,
  chapter: C,
  shownIn: (stage: Stage) => Promise<Shown>,
  fields: Fields<C>,
): void {
  const row = suite.chapter(chapter)
  for (const [name, { property, value, notIn = [] }] of Object.entries(fields) as [RowOf<C>, Field][]) {
    row(name, property, async (stage) => {
      const shown = await shownIn(stage)
      const expected = await Promise.all(
        Object.keys(shown).map(async (place) => [place, notIn.includes(place) ? undefined : await value(stage, place)]),
      )
      expect(Object.entries(shown).map(([place, members]) => [place, members[name]])).toEqual(expected)
    })
  }
}

export function fieldChapters(suite: Suite): void {
  transactions(suite)
  accounts(suite)
  tokens(suite)
  nfts(suite)
  histories(suite)
  statements(suite)
}

async function found(stage: Stage, path: string, list: string, has: Members): Promise<Members> {
  const all = await stage.viewer.readAll(path, list)
  return all.find((one) => Object.entries(has).every(([name, value]) => one[name] === value)) ?? {}
}

function transactions(suite: Suite): void {
  const ofCast = (name: string) => (stage: Stage) => stage.cast.transferred.detail[name]
  const shownIn = async (stage: Stage): Promise<Shown> => {
    const { alice, transferred } = stage.cast
    const { txnId: id, receipt, detail } = transferred
    const has = { txn_id: id }
    return {
      receipt,
      detail: await stage.viewer.read(`/v1/transactions/${id}`),
      list: await found(stage, `/v1/transactions?account_id=${alice.accountId}`, 'transactions', has),
      group: await found(stage, `/v1/transactions/group/${textOf(detail, 'group_id')}`, 'transactions', has),
    }
  }
  const nowhere = ['receipt', 'detail', 'list', 'group']
  fieldsChapter(suite, 'Transaction', shownIn, {
    txn_id: field('the same on receipt, detail, list and group', ({ cast }) => cast.transferred.txnId),
    account_id: field('the submitting account', ({ cast }) => cast.alice.accountId),
    amount: field('decimal string, as it was signed', () => '25', ['receipt']),
    type: field('one of six', () => 'transfer', ['receipt']),
    token_id: field('the token that moves', () => 'COIN', ['receipt']),
    group_id: field('the UUID that links legs', ofCast('group_id'), ['list', 'group']),
    status: field('pending on the receipt, completed then', (_, place) =>
      place === 'receipt' ? 'pending' : 'completed',
    ),
    shard_id: field('integer, the shard of the account', ofCast('shard_id'), ['group']),
    created_at: field('timestamp, on the detail and in lists', ofCast('created_at'), ['receipt', 'group']),
    enqueued_at: field('timestamp, on the receipt alone: when it was accepted', ofCast('created_at'), nowhere.slice(1)),
    audit_hash: field('of its entry in the chain, on the detail alone', ofCast('audit_hash'), [
      'receipt',
      'list',
      'group',
    ]),
    signature: field('input only', () => undefined),
    idempotency_key: field('input only', () => undefined),
  })
}

function accounts(suite: Suite): void {
  const saver = once(async ({ transactor }) => {
    const holder = await funded(transactor, 'saver@fields', '10.250')
    return { ...holder, last: await told(transactor, holder, { type: 'debit', amount: '0.25' }) }
  })
  const last = new Map<Stage, Members>()
  const ofLast = (name: string) => (stage: Stage) => last.get(stage)?.[name]
  const seen = (read: (stage: Stage, path: string) => Promise<Shown>) => async (stage: Stage) => {
    const { accountId, last: debit } = await saver(stage)
    last.set(stage, debit.detail)
    return read(stage, `/v1/accounts/${accountId}`)
  }
  const state = seen(async ({ viewer }, path) => ({ state: await viewer.read(`${path}/state`) }))
  fieldsChapter(suite, 'Account state', state, {
    account_id: field('the account of the path', () => 'saver@fields'),
    audit_hash: field('the latest of the chain', ofLast('audit_hash')),
    updated_at: field('of the last change', ofLast('processed_at')),
  })
  const balance = seen(async (stage, path) => ({
    single: await stage.viewer.read(`${path}/balances/BASE`),
    list: await found(stage, `${path}/balances`, 'balances', { token_id: 'BASE' }),
  }))
  fieldsChapter(suite, 'Token balance', balance, {
    account_id: field('on the single balance; around the list, not in it', () => 'saver@fields', ['list']),
    token_id: field('string', () => 'BASE'),
    token_class: field('fungible, of the base unit too', () => 'fungible'),
    balance: field('what came in less what went out', () => '10'),
    decimals: field('integer, the precision of the token', () => 18),
    updated_at: field('timestamp of the last movement', ofLast('processed_at')),
  })
}

function tokens(suite: Suite): void {
  const shownIn = async (stage: Stage): Promise<Shown> => ({
    made: membersOf(stage.cast.coin),
    read: await stage.viewer.read('/v1/fungible-tokens/COIN'),
    list: await found(stage, '/v1/fungible-tokens', 'tokens', { token_id: 'COIN' }),
  })
  fieldsChapter(suite, 'Fungible token', shownIn, {
    token_id: field('string, the symbol', () => 'COIN'),
    symbol: field('string', () => 'COIN'),
    decimals: field('integer', () => 2),
    issuer: field('an account ID', ({ cast }) => cast.alice.accountId),
    total_supply: field('decimal string', () => '1000.5'),
    created_at: field(
      'timestamp',
      timeOf(({ cast }) => membersOf(cast.coin)['created_at']),
    ),
  })
}

function nfts(suite: Suite): void {
  const read = (stage: Stage, rest = ''): Promise<Members> =>
    stage.viewer.read(`/v1/nft-classes/${stage.cast.classId}${rest}`)
  const classes = async (stage: Stage): Promise<Shown> => ({
    made: membersOf(stage.cast.nftClass),
    read: await read(stage),
    list: await found(stage, '/v1/nft-classes', 'classes', { class_id: stage.cast.classId }),
  })
  fieldsChapter(suite, 'NFT class', classes, {
    class_id: field('string', ({ cast }) => cast.classId),
    name: field('string', ({ cast }) => cast.className),
    description: field('string, not in the list', () => 'a class of the tests', ['list']),
    issuer: field('an account ID', ({ cast }) => cast.alice.accountId),
    metadata_schema: field('a JSON Schema, as it came, not in the list', () => COLOURED, ['list']),
    created_at: field(
      'timestamp',
      timeOf(({ cast }) => membersOf(cast.nftClass)['created_at']),
    ),
  })
  suite.chapter('NFT class')('list form', 'class_id, name, issuer and created_at, and nothing else', async (stage) => {
    const { list = {} } = await classes(stage)
    expect(Object.keys(list).toSorted()).toEqual(['class_id', 'created_at', 'issuer', 'name'])
  })
  const metadata = { colour: 'blue', weight: 2.5 }
  const instances = async (stage: Stage): Promise<Shown> => ({
    made: membersOf(stage.cast.minted),
    read: await read(stage, '/instances/deed-1'),
    list: await found(stage, `/v1/nft-classes/${stage.cast.classId}/instances`, 'instances', { instance_id: 'deed-1' }),
  })
  const ownerIn = ({ cast }: Stage, place: string): unknown => (place === 'made' ? cast.alice : cast.bob).accountId
  fieldsChapter(suite, 'NFT instance', instances, {
    class_id: field('on the instance; around the list, not in it', ({ cast }) => cast.classId, ['list']),
    instance_id: field('string, chosen by the minter', () => 'deed-1'),
    owner: field('the account that has it now', ownerIn),
    metadata: field('object', () => metadata),
    minted_at: field(
      'timestamp',
      timeOf(({ cast }) => membersOf(cast.minted)['minted_at']),
    ),
  })
  const owned = async ({ viewer, cast }: Stage): Promise<Shown> => {
    const [only = {}, ...more] = await viewer.readAll(`/v1/accounts/${cast.bob.accountId}/nfts`, 'nfts')
    expect(more).toEqual([])
    return { list: only }
  }
  fieldsChapter(suite, 'Owned NFT', owned, {
    class_id: field('string', ({ cast }) => cast.classId),
    instance_id: field('string', () => 'deed-1'),
    class_name: field('the name of the class', ({ cast }) => cast.className),
    metadata: field('that of the instance', () => metadata),
    acquired_at: field('when it came to this owner', handedOverAt),
  })
}

/** Of the deed: minted to alice, handed to bob, attested. */
function histories(suite: Suite): void {
  const ofPlace = (byPlace: Readonly<Record<string, (stage: Stage) => unknown>>) => (stage: Stage, place: string) =>
    byPlace[place]?.(stage)
  const alice = ({ cast }: Stage): unknown => cast.alice.accountId
  const bob = ({ cast }: Stage): unknown => cast.bob.accountId
  const minted = ({ cast }: Stage): unknown => membersOf(cast.minted)['minted_at']
  const handed =
    (name: string) =>
    ({ cast }: Stage) =>
      cast.handedOver[name]
  const attested =
    (name: string) =>
    ({ cast }: Stage) =>
      membersOf(cast.attestation)[name]
  const history = async ({ viewer, cast }: Stage): Promise<Shown> => {
    const [mint = {}, transfer = {}, ...more] = await historyOf(viewer, cast.deed)
    expect(more).toEqual([])
    return { mint, transfer }
  }
  fieldsChapter(suite, 'Ownership history entry', history, {
    from: field('account ID; null for the mint', ofPlace({ mint: () => null, transfer: alice })),
    to: field('account ID', ofPlace({ mint: alice, transfer: bob })),
    txn_id: field(
      'the transaction that did it',
      ofPlace({ mint: () => expect.stringMatching(/^txn_/), transfer: handed('txn_id') }),
    ),
    type: field('mint, then transfer', (_, place) => place),
    timestamp: field('of the change', ofPlace({ mint: minted, transfer: handedOverAt })),
  })
  const provenance = async ({ viewer, cast }: Stage): Promise<Shown> => {
    const path = `/v1/nft-classes/${cast.classId}/instances/deed-1/provenance`
    const [mint = {}, transfer = {}, attestation = {}] = await viewer.readAll(path, 'provenance')
    return { mint, transfer, attestation }
  }
  const done = ['mint', 'transfer']
  const timestamp = { mint: minted, transfer: handedOverAt, attestation: attested('created_at') }
  fieldsChapter(suite, 'Provenance entry', provenance, {
    depth: field('counts changes of owner from 0', (_, place) => (place === 'mint' ? 0 : 1)),
    event: field('in the order of what happened', (_, place) => place),
    actor: field(
      'whoever did or stated it',
      ofPlace({ mint: alice, transfer: alice, attestation: attested('attester') }),
    ),
    txn_id: field(
      'on what a transaction did',
      ofPlace({ mint: () => expect.stringMatching(/^txn_/), transfer: handed('txn_id') }),
    ),
    attestation_id: field('on what was stated', attested('attestation_id'), done),
    timestamp: field('of the event', ofPlace(timestamp)),
    details: field('on what was stated: the statement', attested('statement'), done),
  })
}

const TYPES = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance']

function statements(suite: Suite): void {
  const attestations = async (stage: Stage): Promise<Shown> => {
    const made = membersOf(stage.cast.attestation)
    const id = textOf(made, 'attestation_id')
    const list = await found(stage, '/v1/attestations?subject_instance=deed-1', 'attestations', { attestation_id: id })
    return { made, read: await stage.viewer.read(`/v1/attestations/${id}`), list }
  }
  const ofMade =
    (name: string) =>
    ({ cast }: Stage) =>
      membersOf(cast.attestation)[name]
  fieldsChapter(suite, 'Attestation', attestations, {
    attestation_id: field('output', ofMade('attestation_id')),
    attester: field('whoever states it', () => 'land-registry@london'),
    subject_class: field('an NFT class', ({ cast }) => cast.classId),
    subject_instance: field('an instance of the class', () => 'deed-1'),
    attestation_type: field('string', () => 'title'),
    statement: field('string', () => 'Entered in the register.'),
    evidence_url: field('URL; not in the list', () => 'https://registry.example/deeds/1', ['list']),
    created_at: field('output: timestamp', timeOf(ofMade('created_at'))),
  })
  const assertions = once(async ({ viewer }: Stage): Promise<Shown> => {
    const made = TYPES.map(async (type) => {
      const reply = await viewer.post(`/v1/assertions/${type}`, { requester: 'Auditors & Söhne' })
      return [type, membersOf(reply)] as const
    })
    return Object.fromEntries(await Promise.all(made))
  })
  const said = (type: string, { ledgerId }: Stage): unknown =>
    expect.objectContaining({ assertion_type: type, requester: 'Auditors & Söhne', ledger_id: ledgerId })
  fieldsChapter(suite, 'Assertion', assertions, {
    assertion_type: field('one of three, the one that was asked for', (_, place) => place),
    requester: field('whoever asked, as they call themselves', () => 'Auditors & Söhne'),
    result: field('says what it is, of which ledger and for whom', (stage, place) => said(place, stage)),
    signature: field('base64 of DER', () => expect.stringMatching(/^ME[A-Za-z0-9+/]+=*$/)),
  })
}

/** When the deed came to bob, as its history has it. */
async function handedOverAt({ viewer, cast }: Stage): Promise<unknown> {
  const [, transfer = {}] = await historyOf(viewer, cast.deed)
  expectTimeOfRun(transfer['timestamp'])
  return transfer['timestamp']
}

/** A time that the ledger said in this run. */
function timeOf(value: (stage: Stage) => unknown): Field['value'] {
  return (stage) => {
    expectTimeOfRun(value(stage))
    return value(stage)
  }
}
