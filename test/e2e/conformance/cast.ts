/**
 * Who and what is there before the first chapter: accounts with value, a transaction in each of its states, an NFT that
 * has changed hands, and a statement on it. Chapters that read look at these; those that change things make their own.
 */
import { randomUUID } from 'node:crypto'
import { type Holder, type HttpReply, type LedgerClient, membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { ended, keyed, moved, registerToken, submitted } from '../../support/client-moves.ts'
import { mint, mintedTo, type Nft, registerClass } from '../../support/client-nfts.ts'

/** A transaction from its submission to now. */
export interface Told {
  /** What was signed, without account and signature. */
  readonly fields: Members
  readonly reply: HttpReply
  /** The body of the 202. */
  readonly receipt: Members
  readonly detail: Members
  readonly txnId: string
  readonly submittedMs: number
  readonly answeredMs: number
}

export interface Cast {
  /** Issuer of COIN and of the class; was credited 100.50 of the base unit. */
  readonly alice: Holder
  /** Has received 25 COIN and an NFT. */
  readonly bob: Holder
  /** Holds nothing: what it tried failed. */
  readonly carol: Holder
  /** 1,000.50 of it at first, of which 25 went to bob and 1 is reserved; two decimals. */
  readonly coin: HttpReply
  readonly credited: Told
  readonly failed: Told
  readonly transferred: Told
  /** Waits for a mirror that does not come. */
  readonly pending: Told
  readonly nftClass: HttpReply
  readonly classId: string
  readonly className: string
  /** Minted to alice, hers no more. */
  readonly deed: Nft
  readonly minted: HttpReply
  readonly handedOver: Members
  readonly attestation: HttpReply
}

const CLASS_NAME = 'Title deeds'

export async function createCast(client: LedgerClient): Promise<Cast> {
  const [alice, bob, carol] = await Promise.all([
    client.register('alice@conformance'),
    client.register('bob@conformance'),
    client.register('carol@conformance'),
  ])
  const [coin] = await Promise.all([
    registerToken(client, { symbol: 'COIN', issuer: alice.accountId, total_supply: '1000.50' }),
    registerToken(client, { symbol: 'OTHER', issuer: bob.accountId, total_supply: '10' }),
  ])
  const credited = await told(client, alice, { type: 'credit', amount: '100.50', metadata: { note: 'first' } })
  const failed = await told(client, carol, { type: 'debit', amount: '1' })
  for (let more = 0; more < 2; more += 1) await submitted(client, carol, { type: 'debit', amount: '1' })
  await moved(client, bob, { type: 'credit', amount: '1' })
  const toBob = { type: 'transfer', to_account_id: bob.accountId }
  const transferred = await told(client, alice, { ...toBob, amount: '25', token_id: 'COIN' })
  const pending = await told(client, alice, {
    type: 'exchange',
    amount: '1',
    token_id: 'COIN',
    group_id: randomUUID(),
    to_account_id: bob.accountId,
    receive: { token_id: 'OTHER', amount: '1' },
  })
  return { alice, bob, carol, coin, credited, failed, transferred, pending, ...(await nfts(client, alice, bob)) }
}

/** `COIN` is of two decimals. */
async function nfts(
  client: LedgerClient,
  alice: Holder,
  bob: Holder,
): Promise<Pick<Cast, 'nftClass' | 'classId' | 'className' | 'deed' | 'minted' | 'handedOver' | 'attestation'>> {
  const nftClass = await registerClass(client, { name: CLASS_NAME, issuer: alice.accountId })
  const classId = textOf(membersOf(nftClass), 'class_id')
  const minted = await mint(client, alice, classId, {
    instance_id: 'deed-1',
    metadata: { colour: 'blue', weight: 2.5 },
  })
  const deed: Nft = { class_id: classId, instance_id: 'deed-1', amount: '1' }
  const handedOver = await moved(client, alice, { type: 'transfer', to_account_id: bob.accountId, ...deed })
  await mintedTo(client, alice, { class_id: classId, instance_id: 'deed-2' })
  const burned = await mintedTo(client, alice, { class_id: classId, instance_id: 'to-burn' })
  await moved(client, alice, { type: 'burn', ...burned })
  const attestation = await client.post('/v1/attestations', {
    attester: 'land-registry@london',
    subject_class: classId,
    subject_instance: deed.instance_id,
    attestation_type: 'title',
    statement: 'Entered in the register.',
    evidence_url: 'https://registry.example/deeds/1',
  })
  return { nftClass, classId, className: CLASS_NAME, deed, minted, handedOver, attestation }
}

/** An exchange is told of while it is pending; everything else when it has ended. */
export async function told(client: LedgerClient, holder: Holder, fields: Members): Promise<Told> {
  const submittedMs = Date.now()
  const signedFields = keyed(fields)
  const reply = await client.submit(holder, signedFields)
  const answeredMs = Date.now()
  if (reply.status !== 202) throw new Error(`${JSON.stringify(fields)}: ${reply.status} ${reply.body}`)
  const receipt = membersOf(reply)
  const txnId = textOf(receipt, 'txn_id')
  const stays = fields['type'] === 'exchange' && fields['receive'] !== undefined
  const detail = stays ? await client.read(`/v1/transactions/${txnId}`) : await ended(client, receipt)
  return { fields: signedFields, reply, receipt, detail, txnId, submittedMs, answeredMs }
}

/** One failing submission, to its end. */
export async function failureOf(client: LedgerClient, holder: Holder, fields: Members): Promise<unknown> {
  const { failure, status } = await submitted(client, holder, fields)
  return status === 'failed' ? (failure as Members)['code'] : status
}
