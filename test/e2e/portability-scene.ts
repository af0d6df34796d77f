/** Two ledgers with separate keys: accounts and assets of the first, and their import into the second. */
import { createHash, randomUUID } from 'node:crypto'
import { type Holder, type HttpReply, LedgerClient, membersOf, textOf } from '../support/client/client.ts'
import { type Members, newAccountKeys, signed } from '../support/client/client-keys.ts'
import { changeStatus, funded, issued, moved } from '../support/client/client-moves.ts'
import { classOf, mintedTo, type Nft } from '../support/client/client-nfts.ts'
import { type Cluster, startCluster } from '../support/processes/cluster-process.ts'

/** A ledger and its clients. */
export interface Side {
  readonly cluster: Cluster
  readonly client: LedgerClient
  readonly admin: LedgerClient
  readonly ledgerId: string
}

export async function startSide(env: Readonly<Record<string, string>> = {}): Promise<Side> {
  const cluster = await startCluster({ nodes: 1, edges: 1, env: { LEDGER_AUDITOR_SHARE: '100', ...env } })
  const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  const admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
  const keySet = await keySetOf(cluster)
  return { cluster, client, admin, ledgerId: textOf(keySet, 'ledger_id') }
}

export async function keySetOf({ origin }: Cluster): Promise<Members> {
  return (await (await fetch(`${origin}/.well-known/jwks.json`)).json()) as Members
}

/** Settings of a ledger that imports exports of others. */
export async function trusting(...others: readonly Side[]): Promise<Readonly<Record<string, string>>> {
  const pinned = await Promise.all(others.map(async (side) => [side.ledgerId, await keySetOf(side.cluster)] as const))
  return { LEDGER_TRUSTED_LEDGERS: JSON.stringify(Object.fromEntries(pinned)) }
}

export async function stopSide(side: Side | undefined): Promise<void> {
  side?.client.close()
  side?.admin.close()
  await side?.cluster.stop()
}

export const GOLD = 'GOLD'

/** Accounts and assets at the source. */
export interface Stock {
  readonly house: Holder
  readonly alice: Holder
  /** Whose key was rotated. */
  readonly carol: Holder
  /** Frozen. */
  readonly bob: Holder
  readonly ruby: Nft
  readonly burned: Nft
  readonly attestationId: string
  /** As it was accepted from alice, and as it was refused for want of funds. */
  readonly spent: readonly Members[]
}

export async function stocked({ client, admin }: Side): Promise<Stock> {
  const house = await client.register('mint-house')
  await issued(client, GOLD, house, '1000.5')
  const alice = await funded(client, 'alice@house', '12.5')
  const bob = await funded(client, 'bob@house', '7.000000000000000001')
  const carol = await funded(client, 'carol@house', '1')
  await moved(client, house, { type: 'transfer', amount: '3.25', token_id: GOLD, to_account_id: alice.accountId })
  await moved(client, house, { type: 'burn', amount: '0.5', token_id: GOLD })
  await moved(client, house, { type: 'transfer', amount: '2', token_id: GOLD, to_account_id: bob.accountId })
  const classId = await classOf(client, 'Gems', house)
  const ruby = await mintedTo(client, house, { class_id: classId, instance_id: 'ruby' }, house)
  await moved(client, house, { type: 'transfer', ...ruby, to_account_id: alice.accountId })
  const burned = await mintedTo(client, house, { class_id: classId, instance_id: 'glass' }, alice)
  await moved(client, alice, { type: 'burn', ...burned })
  const statement = {
    attester: house.accountId,
    subject_class: classId,
    subject_instance: 'ruby',
    attestation_type: 'assay',
    statement: 'it is red',
  }
  const attestationId = textOf(membersOf(await client.post('/v1/attestations', statement)), 'attestation_id')
  const spent = [await spend(client, alice, 'spent once', '2'), await spend(client, alice, 'too much', '1000000')]
  await changeStatus(admin, bob, { status: 'frozen' })
  return { house, alice, bob, carol: await rotated(client, carol), ruby, burned, attestationId, spent }
}

/** The submission, once it is final. */
async function spend(client: LedgerClient, holder: Holder, key: string, amount: string): Promise<Members> {
  const fields = { account_id: holder.accountId, type: 'debit', amount, idempotency_key: key }
  const submission = signed(fields, holder.keys.privateKey)
  const reply = await client.post('/v1/transactions', submission)
  if (reply.status !== 202) throw new Error(`${reply.status} ${reply.body}`)
  await client.read(`/v1/transactions/${textOf(membersOf(reply), 'txn_id')}`, { prefer: 'wait=30' })
  return submission
}

async function rotated(client: LedgerClient, holder: Holder): Promise<Holder> {
  const keys = newAccountKeys()
  const body = { account_id: holder.accountId, public_key: keys.jwk, idempotency_key: 'rotation' }
  const reply = await client.post(`/v1/accounts/${holder.accountId}/keys`, signed(body, holder.keys.privateKey))
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.body}`)
  return { ...holder, keys }
}

/** Of the whole ledger, unless `what` says otherwise. */
export async function exported(from: Side, to: Side, what: Members = { all: true }): Promise<HttpReply> {
  const key = await to.client.read('/v1/imports/key')
  const order = { requester: 'a test', audience: to.ledgerId, recipient_public_key: key['public_key'] ?? '', ...what }
  return from.admin.post('/v1/exports', order)
}

export function linesOf(reply: HttpReply): readonly string[] {
  if (reply.status !== 200) throw new Error(`export: ${reply.status} ${reply.body}`)
  return reply.body.split('\n').slice(0, -1)
}

/** In parts of so many lines; the last answer, or the first that refuses. */
export async function imported(
  { admin }: Side,
  lines: readonly string[],
  { importId = randomUUID(), size = 5 }: { readonly importId?: string; readonly size?: number } = {},
): Promise<HttpReply> {
  for (let part = 0; ; part += 1) {
    const records = lines.slice(part * size, (part + 1) * size).map((line) => JSON.parse(line) as Members)
    const last = (part + 1) * size >= lines.length
    const reply = await admin.post('/v1/imports', { import_id: importId, part, records, last })
    if (last || reply.status !== 202) return reply
  }
}

export function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`
}
