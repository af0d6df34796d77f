/** The home of an account that issues a class, with its NFTs at home elsewhere: what they say is delivered by hand. */
import { accountAddress, classAddress } from '../../../../actors/address.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import type { Message } from '../../../../actors/message.ts'
import type { Refusal } from '../../../../actors/refusal.ts'
import type { ItemVerdict, Operation } from '../../../../runtime/protocol/messages.ts'
import type { CommitBatch } from '../../../../runtime/ports/ledger-store.ts'
import { KEY, START_MS } from '../../../support/accounts.ts'
import { answersOf, applied, hosting, item, kinds, register } from '../../../support/shard-hosting.ts'
import { deliveriesBody, deliveryFrom } from '../../../support/bodies.ts'

export const TAKEN: Refusal = { code: 'instance_exists', detail: 'Taken.' }
export const SIGNED = `by ${KEY.publicKey}`

export const registerClass = (issuer: string): Operation => ({
  kind: 'register_class',
  payload: canonicalJson({ name: 'Gems', description: '', issuer, metadata_schema: {} }),
  signature: null,
  registrationKey: null,
})

/** The issuer `a` and its class are at home here; its NFTs are at home elsewhere: what they say is delivered by hand. */
export async function minting() {
  const hosted = hosting([0])
  const { clock, send, verdicts, host, control, batches } = hosted
  send(item(0, 'a', register))
  await clock.pass(20)
  send(item(0, classAddress('Gems'), registerClass('a')))
  await clock.pass(100)
  const [, answer] = answersOf(verdicts)
  if (typeof answer !== 'object' || answer.kind !== 'class_registered') throw new Error('There is no class.')
  const { classId } = answer.nftClass
  verdicts.length = 0
  let number = 0
  const operation = (key: string, fields: JsonObject = {}, signature = SIGNED): Operation => ({
    kind: 'mint',
    payload: canonicalJson({
      account_id: 'a',
      class_id: classId,
      instance_id: 'ruby',
      metadata: {},
      idempotency_key: key,
      ...fields,
    }),
    signature,
    metadataVerdict: 'valid',
  })
  /** The request's name. */
  const ask = (key: string, fields: JsonObject = {}, deadlineMs = START_MS + 60_000): string => {
    const request = item(0, 'a', operation(key, fields), { deadlineMs })
    send(request)
    return request.requestId
  }
  const envelope = (said: Message) => ({ version: 1, to: accountAddress('a'), message: said, carries: [] })
  /** The next message of the home of the NFTs. */
  const deliver = (said: Message, to = host): void => {
    number += 1
    const delivery = deliveryFrom(2, [{ number, envelope: envelope(said) }], { began: number })
    to.receiveDeliveries(deliveriesBody([delivery]), () => undefined)
  }
  /** The first of its messages again, as its source carries it until it is acknowledged. */
  const carryAgain = (said: Message, to = host): void => {
    const delivery = deliveryFrom(2, [{ number: 1, envelope: envelope(said) }], { began: 1 })
    to.receiveDeliveries(deliveriesBody([delivery]), () => undefined)
  }
  /** Requests to the homes of NFTs, in all attempted commits. */
  const asked = (): readonly Extract<Message, { readonly type: 'mint_nft' }>[] =>
    batches
      .flatMap(({ shards }) => shards.flatMap(({ outbox }) => outbox))
      .flatMap(({ envelope: { message } }) => (message.type === 'mint_nft' ? [message] : []))
  /** The home's decision on the n-th mint request, from 0. */
  const decision = (index: number, refused: Refusal | null = null): Message => {
    const { txnId = '' } = asked()[index] ?? {}
    const mintedAtMs = refused === null ? START_MS : null
    return { type: 'conclude_mint', nftId: `${classId}/ruby`, txnId, refused, mintedAtMs, counterTxnId: null }
  }
  /** Holds a commit until it is let go, so that what comes meanwhile gathers in one batch. */
  const gather = async (): Promise<() => void> => {
    let commit: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    send(item(0, 'a9', register))
    await clock.pass(5)
    return () => {
      control.commit = applied
      commit()
    }
  }
  return { ...hosted, classId, operation, ask, deliver, carryAgain, asked, decision, gather }
}

/** By request: what it was told. */
export function told(verdicts: readonly ItemVerdict[]): ReadonlyMap<string, string> {
  return new Map(
    verdicts.map((verdict) => {
      const [answer] = answersOf([verdict])
      if (typeof answer !== 'object' || answer.kind !== 'minted') return [verdict.requestId, kinds([verdict])[0] ?? '']
      const { instance, replayed, mismatch } = answer
      const repeat = replayed ? (mismatch ? ', another replayed' : ', replayed') : ''
      return [verdict.requestId, `${instance.instanceId}${repeat}`]
    }),
  )
}

/** How many rows of each kind a mint has left. */
export function left(batches: readonly CommitBatch[]) {
  const shards = batches.flatMap((batch) => batch.shards)
  return {
    transactions: shards.flatMap(({ transactions }) => transactions).filter((row) => row.transaction.type === 'mint')
      .length,
    operations: shards.flatMap(({ operations }) => operations).length,
  }
}
