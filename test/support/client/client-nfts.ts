/** NFTs as clients make and see them, by nothing but the interface. */
import { type Holder, type HttpReply, type LedgerClient, membersOf, textOf } from './client.ts'
import { type Members, signed } from './client-keys.ts'
import { newKey } from './client-moves.ts'

/** A class whose instances have a color, and may have a weight. */
export const COLOURED: Members = {
  type: 'object',
  properties: { color: { type: 'string', maxLength: 20 }, weight: { type: 'number', minimum: 0 } },
  required: ['color'],
  additionalProperties: false,
}

export function registerClass(
  client: LedgerClient,
  fields: Members,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpReply> {
  return client.post(
    '/v1/nft-classes',
    { description: 'a class of the tests', metadata_schema: COLOURED, ...fields },
    headers,
  )
}

/** Registers what must be taken, and returns its ID. */
export async function classOf(client: LedgerClient, name: string, issuer: Holder): Promise<string> {
  const reply = await registerClass(client, { name, issuer: issuer.accountId })
  if (reply.status !== 201) throw new Error(`registration of ${name}: ${reply.status} ${reply.body}`)
  return textOf(membersOf(reply), 'class_id')
}

/** Signs and sends a mint. `fields` over those that would do. */
export function mint(client: LedgerClient, issuer: Holder, classId: string, fields: Members): Promise<HttpReply> {
  const body = {
    class_id: classId,
    account_id: issuer.accountId,
    metadata: { color: 'red' },
    idempotency_key: newKey(),
    ...fields,
  }
  return client.post(`/v1/nft-classes/${classId}/instances`, signed(body, issuer.keys.privateKey))
}

/** One NFT, as submissions and legs name it. */
export type Nft = {
  readonly class_id: string
  readonly instance_id: string
  readonly amount: '1'
}

/** Mints what must be minted. */
export async function mintedTo(
  client: LedgerClient,
  issuer: Holder,
  nft: Pick<Nft, 'class_id' | 'instance_id'>,
  owner: Holder = issuer,
): Promise<Nft> {
  const { class_id: classId, instance_id } = nft
  const reply = await mint(client, issuer, classId, { instance_id, owner: owner.accountId })
  if (reply.status !== 201) throw new Error(`mint of ${instance_id}: ${reply.status} ${reply.body}`)
  return { class_id: classId, instance_id, amount: '1' }
}

function pathOf({ class_id: classId, instance_id: instanceId }: Pick<Nft, 'class_id' | 'instance_id'>): string {
  return `/v1/nft-classes/${classId}/instances/${instanceId}`
}

export function instanceOf(client: LedgerClient, nft: Nft): Promise<Members> {
  return client.read(pathOf(nft))
}

export function historyOf(client: LedgerClient, nft: Nft): Promise<readonly Members[]> {
  return client.readAll(`${pathOf(nft)}/history`, 'history')
}

/** `class/instance` of everything that the account owns. */
export async function ownedBy(client: LedgerClient, { accountId }: Holder): Promise<readonly string[]> {
  const nfts = await client.readAll(`/v1/accounts/${accountId}/nfts`, 'nfts')
  return nfts.map((nft) => textOf(nft, 'instance_id'))
}

/** An NFT leg of a group, with a receiver. */
export function handing(from: Holder, to: Holder, nft: Nft): Members {
  return { account_id: from.accountId, type: 'transfer', to_account_id: to.accountId, ...nft }
}
