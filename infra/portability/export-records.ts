/** Makes export records from the ledger's state. Content that only the audience may read is encrypted here. */
import { showHash } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { formatQuantity, parseQuantity } from '../../actors/money.ts'
import type { ClassState } from '../../actors/nft-class/state.ts'
import { nftNameOf } from '../../actors/nft-id.ts'
import type { InstanceState, NftEvent } from '../../actors/nft-instance/state.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { TokenState } from '../../actors/token/state.ts'
import { attestationMembers } from '../../api/views/attestation-views.ts'
import type { AccountRecord, EventRecord, ExportedAttestation } from '../../api/schemas/requests/export-records.ts'
import type { Attestation } from '../../runtime/ports/attestation-store.ts'
import { jwkOf, type PublicKey } from '../keys/public-key.ts'
import type { AccountDocument } from '../postgres/rows/account-document.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { encryptBalance } from '../keys/balance-jwe.ts'
import type { RecordBody } from './export-lines.ts'

type BodyOf<Kind extends RecordBody['record']> = Extract<RecordBody, { readonly record: Kind }>

export function tokenRecord(token: TokenState, issuer: string): BodyOf<'token'> {
  return {
    record: 'token',
    symbol: token.tokenId,
    decimals: token.decimals,
    issuer,
    initial_supply: minimal(token.initialSupply),
    total_supply: minimal(token.totalSupply),
    created_at: isoTimestamp(token.createdAtMs),
  }
}

export function classRecord(nftClass: ClassState, issuer: string): BodyOf<'nft_class'> {
  return {
    record: 'nft_class',
    class_id: nftClass.classId,
    name: nftClass.name,
    description: nftClass.description,
    issuer,
    metadata_schema: nftClass.metadataSchema,
    created_at: isoTimestamp(nftClass.createdAtMs),
  }
}

/** An instance with a hold is exported as active: its owner has not changed. Throws UnreadableRow. */
export function instanceRecord(instance: InstanceState, history: readonly NftEvent[]): BodyOf<'nft_instance'> {
  const name = nftNameOf(instance.id)
  const isWhole = history.length === instance.events && history.at(-1)?.eventHash === instance.tip
  if (name === undefined || !isWhole) {
    throw new UnreadableRow(`nft_events ${instance.id}`, 'the history does not match the NFT')
  }
  return {
    record: 'nft_instance',
    class_id: name.classId,
    instance_id: name.instanceId,
    owner: instance.owner,
    status: instance.status === 'burned' ? 'burned' : 'active',
    metadata: instance.metadata,
    minted_at: isoTimestamp(instance.mintedAtMs),
    acquired_at: isoTimestamp(instance.acquiredAtMs),
    history: history.map(eventRecord),
  }
}

function eventRecord(event: NftEvent): EventRecord {
  return {
    type: event.type,
    from: event.from,
    to: event.to,
    txn_id: event.txnId,
    timestamp: isoTimestamp(event.atMs),
    previous_hash: showHash(event.previousHash),
    event_hash: showHash(event.eventHash),
    payload: event.payload,
  }
}

export function attestationRecord(attestation: Attestation): BodyOf<'attestation'> {
  return { record: 'attestation', attestation: attestationMembers(attestation) as ExportedAttestation }
}

export interface ExportedAccount {
  readonly account: Pick<
    AccountDocument,
    'accountId' | 'status' | 'incoming' | 'key' | 'completedCount' | 'tip' | 'createdAtMs' | 'updatedAtMs'
  >
  /** Decimal strings in minimal form by token ID. None is zero. */
  readonly balances: ReadonlyMap<string, string>
}

export function accountRecord({ account, balances }: ExportedAccount, recipient: PublicKey): BodyOf<'account'> {
  const { accountId, status, incoming, key } = account
  return {
    record: 'account',
    account_id: accountId,
    status: shownStatus(status, accountId),
    incoming,
    public_key: key === null ? null : ({ ...jwkOf(key.publicKey) } satisfies JsonObject),
    balances: [...balances].sort(byToken).map(([tokenId, balance]) => ({
      token_id: tokenId,
      encrypted_balance: encryptBalance(recipient, { accountId, tokenId }, balance),
    })),
    txn_count: account.completedCount,
    audit_hash: showHash(account.tip),
    created_at: isoTimestamp(account.createdAtMs),
    updated_at: isoTimestamp(account.updatedAtMs),
  }
}

function shownStatus(status: AccountDocument['status'], accountId: string): AccountRecord['status'] {
  if (status !== 'erased') return status
  throw new UnreadableRow(`accounts ${accountId}`, 'it was erased')
}

function byToken([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}

function minimal(quantity: string): string {
  return formatQuantity(parseQuantity(quantity))
}
