/** A ledger in which everything happened once that an audit may meet, made by a real node on a real database. */
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { accountAddress, classAddress, groupAddress, tokenAddress } from '../../actors/address.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import { readPublicKey } from '../../infra/keys/public-key.ts'
import { type AccountKeys, canonical, type Members, newAccountKeys, signatureBytes } from './client/client-keys.ts'
import { agreementOn } from './client/client-groups.ts'
import type { AmountIndex, RowVault } from '../../infra/vault/row-vault.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from './postgres/ledger-database.ts'
import { until } from './postgres/ledger-store-postgres.ts'
import { type LoneNode, startLoneNode } from './lone-node.ts'

export interface Party {
  readonly accountId: string
  keys: AccountKeys
}

export interface AuditedLedger {
  readonly url: string
  readonly ledgerId: string
  readonly node: LoneNode
  /** How its rows are written and read. */
  readonly vault: RowVault
  /** An operator's connection, with all privileges. */
  readonly sql: postgres.Sql
  /** Stops the node and leaves the database to itself. */
  readonly leave: () => Promise<void>
  readonly close: () => Promise<void>
}

export async function createAuditedLedger(amountIndex: AmountIndex = 'account'): Promise<AuditedLedger> {
  const database: LedgerDatabase = await createLedgerDatabase()
  const sql = postgres(database.url, { max: 4, onnotice: () => undefined })
  const [row] = await sql<{ ledger_id: string }[]>`UPDATE ledger SET amount_index = ${amountIndex} RETURNING ledger_id`
  const ledgerId = row?.ledger_id ?? ''
  const node = await startLoneNode(database.url, ledgerId)
  const vault = await vaultOf(database.url)
  let left = false
  const leave = async (): Promise<void> => {
    if (left) return
    left = true
    await node.close()
    await sql.end()
  }
  return {
    url: database.url,
    ledgerId,
    node,
    vault,
    sql,
    leave,
    close: async () => {
      await leave()
      await database.drop()
    },
  }
}

let serial = 0

function numbered(): string {
  serial += 1
  return `key ${serial}`
}

/** Those under which parties of this process have done anything so far, unless they named another. */
export function numberedKeys(): readonly string[] {
  return Array.from({ length: serial }, (_, index) => `key ${index + 1}`)
}

function keyOf({ jwk }: AccountKeys): AccountKey {
  const key = readPublicKey(jwk)
  if (key === undefined) throw new Error('a new key is none')
  return key
}

/** Where clients are. */
export interface PartiesLedger {
  readonly node: Pick<LoneNode, 'ask'>
  readonly sql: postgres.Sql
}

/** Actions of clients, and waiting for their end. */
export class Parties {
  private readonly ledger: PartiesLedger

  constructor(ledger: PartiesLedger) {
    this.ledger = ledger
  }

  async open(accountId: string): Promise<Party> {
    const keys = newAccountKeys()
    await this.ledger.node.ask(accountAddress(accountId), { kind: 'register', key: keyOf(keys), registrationKey: null })
    return { accountId, keys }
  }

  /** Returns the transaction's ID. */
  async submit(party: Party, fields: Members): Promise<string> {
    const answer = await this.signed(party, { idempotency_key: numbered(), ...fields }, (payload, signature) => ({
      kind: 'submit',
      payload,
      signature,
    }))
    if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer))
    return answer.receipt.txnId
  }

  signed(
    { accountId, keys }: Party,
    fields: Members,
    operation: (payload: string, signature: string) => Parameters<LoneNode['ask']>[1],
  ): Promise<Answer> {
    const body = { account_id: accountId, ...fields }
    const signature = signatureBytes(body, keys.privateKey).toString('base64url')
    return this.ledger.node.ask(accountAddress(accountId), operation(canonical(body), signature))
  }

  async rotate(party: Party): Promise<void> {
    const keys = newAccountKeys()
    const fields = { public_key: keys.jwk, idempotency_key: numbered() }
    await this.signed(party, fields, (payload, signature) => ({
      kind: 'rotate_key',
      payload,
      signature,
      proof: null,
    }))
    party.keys = keys
  }

  async changeStatus({ accountId }: Party, status: 'active' | 'frozen'): Promise<void> {
    const operation = { kind: 'change_status', status, incoming: null, reason: 'a test' } as const
    await this.ledger.node.ask(accountAddress(accountId), operation)
  }

  async issue(symbol: string, issuer: string, supply: string): Promise<void> {
    const payload = canonical({ decimals: 2, issuer, symbol, total_supply: supply })
    const operation = { kind: 'register_token', payload, signature: null, registrationKey: null } as const
    await this.ledger.node.ask(tokenAddress(symbol), operation)
  }

  /** Returns the class ID. */
  async registerClass(name: string, { accountId: issuer }: Party): Promise<string> {
    const payload = canonical({ description: 'for tests', issuer, metadata_schema: { type: 'object' }, name })
    const operation = { kind: 'register_class', payload, signature: null, registrationKey: null } as const
    const answer = await this.ledger.node.ask(classAddress(name), operation)
    if (answer.kind !== 'class_registered') throw new Error(JSON.stringify(answer))
    return answer.nftClass.classId
  }

  /** Returns `class/instance`. */
  async mint(issuer: Party, classId: string, instanceId: string, owner = issuer.accountId): Promise<string> {
    const fields = { class_id: classId, instance_id: instanceId, metadata: { size: 1 }, owner }
    await this.signed(issuer, { idempotency_key: numbered(), ...fields }, (payload, signature) => ({
      kind: 'mint',
      payload,
      signature,
      metadataVerdict: 'valid',
    }))
    return `${classId}/${instanceId}`
  }

  /** Returns what each leg's submission must carry. */
  async agree(legs: readonly Members[]): Promise<Members> {
    const { groupId, termsHash, timeoutSeconds } = agreementOn(legs)
    const payload = canonical({ group_id: groupId, legs, timeout_seconds: timeoutSeconds })
    await this.ledger.node.ask(groupAddress(groupId), { kind: 'register_group', payload, registrationKey: null })
    return { group_id: groupId, terms_hash: termsHash }
  }

  async revert(groupId: string): Promise<void> {
    const operation = { kind: 'revert_group', reason: 'a test', transactions: [] } as const
    await this.ledger.node.ask(groupAddress(groupId), operation)
  }

  /** Nothing is pending, held or on its way. */
  atRest(): Promise<void> {
    const unfinished = 'EXISTS (SELECT FROM pending_transactions) OR EXISTS (SELECT FROM holds)'
    return this.untilNot(`${unfinished} OR ${ON_ITS_WAY}`)
  }

  /** No message is in transit: pending transactions wait for a client. */
  delivered(): Promise<void> {
    return this.untilNot(ON_ITS_WAY)
  }

  private async untilNot(busy: string): Promise<void> {
    const { sql } = this.ledger
    await until(async () => {
      const [row] = await sql.unsafe<{ busy: boolean }[]>(`SELECT ${busy} AS busy`)
      return row?.busy === false
    })
  }
}

const ON_ITS_WAY = `EXISTS (
  SELECT FROM outbox o LEFT JOIN inbox_marks m ON m.shard_id = o.target_shard AND m.source_shard = o.shard_id
   WHERE o.number > coalesce(m.mark, 0))`

export interface Told {
  readonly alice: Party
  readonly bob: Party
  readonly classId: string
  /** Minted by alice, went to bob, was exchanged back, and to bob again by a group. */
  readonly travelled: string
  readonly burned: string
  readonly kept: string
}

/** Every kind of thing that happens. `name`: so that it can happen again. */
export async function everythingOnce(parties: Parties, name: string): Promise<Told> {
  const alice = await parties.open(`alice-${name}`)
  const bob = await parties.open(`bob-${name}`)
  const [gold, silver] = [`GOLD-${name}`, `silver-${name}`]
  await parties.issue(gold, alice.accountId, '1000')
  await parties.issue(silver, `keyless-${name}`, '0')
  for (const party of [alice, bob])
    await parties.submit(party, { type: 'credit', amount: '100.5', metadata: { a: 'é' } })
  await parties.submit(bob, { type: 'debit', amount: '1000' })
  await parties.submit(bob, { type: 'debit', amount: '0.5' })
  await parties.submit(alice, { type: 'transfer', amount: '10', to_account_id: bob.accountId })
  await parties.submit(alice, { type: 'transfer', amount: '50', token_id: gold, to_account_id: bob.accountId })
  await parties.submit(alice, { type: 'mint', amount: '5.25', token_id: gold })
  await parties.submit(alice, { type: 'burn', amount: '3', token_id: gold })
  await parties.atRest()
  await parties.submit(bob, { type: 'burn', amount: '1', token_id: gold })
  await parties.rotate(bob)
  await parties.changeStatus(bob, 'frozen')
  await parties.submit(bob, { type: 'transfer', amount: '1', to_account_id: alice.accountId })
  await parties.changeStatus(bob, 'active')
  await groupsOnce(parties, alice, bob, gold)
  const nfts = await nftsOnce(parties, name, alice, bob, gold)
  await parties.atRest()
  return { alice, bob, ...nfts }
}

/** One that settles and one that reverts, with every kind of leg. */
async function groupsOnce(parties: Parties, alice: Party, bob: Party, gold: string): Promise<void> {
  const [a, b] = [alice.accountId, bob.accountId]
  const legs = [
    { account_id: a, type: 'debit', amount: '2', token_id: 'BASE' },
    { account_id: b, type: 'credit', amount: '2', token_id: 'BASE' },
    { account_id: b, type: 'transfer', amount: '4', token_id: gold, to_account_id: a },
    { account_id: a, type: 'mint', amount: '7', token_id: gold },
    { account_id: b, type: 'burn', amount: '6', token_id: gold },
  ]
  for (const ends of ['settled', 'reverted']) {
    const agreed = await parties.agree(legs)
    for (const leg of ends === 'settled' ? legs : legs.slice(0, 4)) {
      const { account_id: accountId, ...fields } = leg
      await parties.submit(accountId === a ? alice : bob, { ...fields, ...agreed })
    }
    if (ends === 'reverted') await parties.revert(String(agreed['group_id']))
    await parties.atRest()
  }
}

async function nftsOnce(parties: Parties, name: string, alice: Party, bob: Party, gold: string) {
  const [a, b] = [alice.accountId, bob.accountId]
  const classId = await parties.registerClass(`Class of ${name}`, alice)
  const [travelled, burned, kept] = [
    await parties.mint(alice, classId, 'travelled'),
    await parties.mint(alice, classId, 'burned', b),
    await parties.mint(alice, classId, 'kept'),
  ]
  await parties.atRest()
  const asset = { class_id: classId, instance_id: 'travelled', amount: '1' }
  await parties.submit(alice, { ...asset, type: 'transfer', to_account_id: b })
  await parties.submit(bob, { class_id: classId, instance_id: 'burned', amount: '1', type: 'burn' })
  await parties.submit(alice, { ...asset, instance_id: 'burned', type: 'transfer', to_account_id: b })
  await parties.atRest()
  const exchange = { group_id: randomUUID() }
  const price = { amount: '9', token_id: gold }
  await parties.submit(bob, { ...asset, ...exchange, type: 'exchange', to_account_id: a, receive: price })
  await parties.submit(alice, { ...price, ...exchange, type: 'exchange', to_account_id: b, receive: asset })
  await parties.atRest()
  const legs = [
    { account_id: a, type: 'transfer', to_account_id: b, ...asset },
    { account_id: b, type: 'transfer', to_account_id: a, amount: '3', token_id: gold },
  ]
  const agreed = await parties.agree(legs)
  for (const { account_id: accountId, ...fields } of legs) {
    await parties.submit(accountId === a ? alice : bob, { ...fields, ...agreed })
  }
  return { classId, travelled, burned, kept }
}
