/** Contents of the simulated event log: the rows at a place, without names and content of erased accounts. */
import { hash } from 'node:crypto'
import { receiptPayload } from '../../../actors/account/receipt.ts'
import { groupViewOf } from '../../../actors/group/state.ts'
import { nftNameOf } from '../../../actors/nft-id.ts'
import type { EventPlace } from '../../../infra/postgres/reads/event-places.ts'
import type { LedgerEvent } from '../../../runtime/ports/ledger-events.ts'
import type { SimDatabase } from './database.ts'

type EventFacts = Omit<LedgerEvent, 'id' | 'position'>

interface FactsWorld {
  readonly database: SimDatabase
  readonly ledgerId: string
}

const NFT_NAMES = { mint: 'nft.minted', transfer: 'nft.transferred', burn: 'nft.burned' } as const

export function erasedNameOf(accountId: string): string {
  return `erased:${hash('sha256', accountId).slice(0, 16)}`
}

export function factsAt(place: EventPlace, { database, ledgerId }: FactsWorld): EventFacts {
  switch (place.kind) {
    case 'entry':
      return entryFacts(place, database)
    case 'transaction':
      return transactionFacts(place, { database, ledgerId })
    case 'group':
      return groupFacts(place, database)
    case 'nft':
      return nftFacts(place, database)
    default:
      return attestationFacts(place, database)
  }
}

function entryFacts({ shard_id: at, id, number }: EventPlace, { rows }: SimDatabase): EventFacts {
  const shardId = at ?? 0
  const isErased = rows.isErased({ shardId, accountId: id })
  const accountId = isErased ? erasedNameOf(id) : id
  const found = rows.entries.get(`${shardId} ${id}`) ?? []
  const entry = found.find(({ sequence }) => sequence === Number(number))
  if (entry === undefined) throw new Error(`${id} has no entry ${number}`)
  const { sequence, previousHash, auditHash, payload } = entry
  const isLast = entry === found.at(-1)
  const name = sequence === 0 ? 'account.registered' : isErased && isLast ? 'account.erased' : 'account.changed'
  const shown = { sequence, previousHash, auditHash, payload: isErased ? null : payload }
  const content = { kind: 'entry', accountId, entry: shown } as const
  return { name, subject: accountId, timeMs: null, accountIds: [accountId], tokenIds: [], content }
}

function transactionFacts(
  { shard_id: at, id, txn_id: txnId }: EventPlace,
  { database: { rows }, ledgerId }: FactsWorld,
): EventFacts {
  const shardId = at ?? 0
  const isErased = rows.isErased({ shardId, accountId: id })
  const accountId = isErased ? erasedNameOf(id) : id
  const row = rows.transactionTable.row({ shardId, txnId: txnId ?? '' })
  const receipt = row?.receipt ?? null
  if (row === undefined || receipt === null) throw new Error(`${txnId} is not final`)
  const { transaction } = row
  const { auditHash, processedAtMs: timeMs, tokenId } = transaction
  const name = transaction.status === 'completed' ? 'transaction.completed' : 'transaction.failed'
  const facts = { name, subject: accountId, timeMs, accountIds: [accountId] } as const
  if (isErased) {
    const shown = { txnId: transaction.txnId, auditHash }
    return { ...facts, tokenIds: [], content: { kind: 'erased_transaction', accountId, transaction: shown } }
  }
  const signed = { payload: receiptPayload(transaction, ledgerId, receipt.keyId), signature: receipt.signature }
  const view = { ...transaction, compensatedBy: null, refunded: null }
  return { ...facts, tokenIds: [tokenId], content: { kind: 'transaction', transaction: view, receipt: signed } }
}

function groupFacts({ shard_id: shardId, id }: EventPlace, { rows }: SimDatabase): EventFacts {
  const state = rows.actors.state({ shardId: shardId ?? 0, address: { kind: 'group', id } })
  const group = state?.kind === 'group' ? groupViewOf(state) : undefined
  if (group === undefined) throw new Error(`${id} is no registered group`)
  const name = group.status === 'settled' ? 'group.settled' : 'group.reverted'
  const content = { kind: 'group', group } as const
  return { name, subject: id, timeMs: group.finishedAtMs, accountIds: [], tokenIds: [], content }
}

function nftFacts({ shard_id: shardId, id, number }: EventPlace, database: SimDatabase): EventFacts {
  const stored = database.rows.nftEvents.history(shardId ?? 0, id)[Number(number)]
  const nft = nftNameOf(id)
  if (stored === undefined || nft === undefined) throw new Error(`${id} has no entry ${number}`)
  const from = stored.from === null ? null : shownName(stored.from, database)
  const to = shownName(stored.to, database)
  const accountIds = from === null ? [to] : [from, to]
  const content = { kind: 'nft', nft, event: { ...stored, from, to } } as const
  return { name: NFT_NAMES[stored.type], subject: id, timeMs: stored.atMs, accountIds, tokenIds: [id], content }
}

function attestationFacts({ kind, id }: EventPlace, { attestations }: SimDatabase): EventFacts {
  const stored = attestations.attestations.get(id)
  if (stored === undefined) throw new Error(`there is no attestation ${id}`)
  const { subjectClass, subjectInstance, attester, createdAtMs, revocation } = stored
  const isRevocation = kind === 'revocation'
  if (isRevocation && revocation === null) throw new Error(`${id} is not revoked`)
  const subject = `${subjectClass}/${subjectInstance}`
  return {
    name: isRevocation ? 'attestation.revoked' : 'attestation.created',
    subject,
    timeMs: isRevocation ? (revocation?.atMs ?? null) : createdAtMs,
    accountIds: [attester],
    tokenIds: [subject],
    content: { kind: 'attestation', attestation: isRevocation ? stored : { ...stored, revocation: null } },
  }
}

function shownName(accountId: string, { rows, shardCount }: SimDatabase): string {
  const isErased = Array.from({ length: shardCount }).some((_, shardId) => rows.isErased({ shardId, accountId }))
  return isErased ? erasedNameOf(accountId) : accountId
}
