/** Makes the operations for actors from the records of an import. */
import { accountAddress, type ActorAddress, classAddress, instanceAddress, tokenAddress } from '../../actors/address.ts'
import type { Arrival, ArrivedFrom } from '../../actors/arrival.ts'
import { sha256Hex } from '../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { nftId } from '../../actors/nft-id.ts'
import type {
  AccountRecord,
  AttestationRecord,
  ExportRecord,
  InstanceRecord,
  UsedKeysRecord,
} from '../../api/schemas/requests/export-records.ts'
import { readPublicKey } from '../keys/public-key.ts'
import type { ImportSource, OpenedBalances, StagedPart } from './import-documents.ts'
import { eventsOf, hashOf, timeMsOf } from './import-history.ts'
import { type ImportIndex, recordsOf } from './import-survey.ts'

/** A record that an actor imports. */
export interface Homecoming {
  readonly line: number
  readonly kind: 'token' | 'nft_class' | 'nft_instance' | 'account'
  readonly actor: ActorAddress
  readonly from: ArrivedFrom
  readonly arrival: Arrival
  /** Its issuer, if the file has no account record of it. The account is then created empty. */
  readonly issuer: Issuer | null
}

export interface Issuer {
  readonly accountId: string
  readonly from: ArrivedFrom
}

/** Operations of one part. */
export interface PartWork {
  readonly homecomings: readonly Homecoming[]
  readonly usedKeys: readonly UsedKeysRecord[]
  readonly attestations: readonly AttestationRecord[]
}

export interface WorkContext {
  readonly importId: string
  readonly source: ImportSource
  readonly index: ImportIndex
}

/** Creates an empty account for an issuer without an account record. */
export const BARE_ACCOUNT: Arrival = { kind: 'account', account: null }

export function workOf(part: StagedPart, context: WorkContext): PartWork {
  const homecomings: Homecoming[] = []
  const usedKeys: UsedKeysRecord[] = []
  const attestations: AttestationRecord[] = []
  for (const record of recordsOf(part)) {
    if (record.record === 'used_keys') usedKeys.push(record)
    else if (record.record === 'attestation') attestations.push(record)
    else {
      const homecoming = homecomingOf(record, part.balances.get(record.line), context)
      if (homecoming !== undefined) homecomings.push(homecoming)
    }
  }
  return { homecomings, usedKeys, attestations }
}

type Balances = Readonly<Record<string, string>>

/** `opened`: balances of an account record. */
function homecomingOf(
  record: ExportRecord,
  opened: OpenedBalances | undefined,
  context: WorkContext,
): Homecoming | undefined {
  // fromEntries makes own members, even for a token named `__proto__`.
  const balances: Balances = Object.fromEntries(opened ?? [])
  const common = (): Pick<Homecoming, 'line' | 'from'> => ({
    line: record.line,
    from: cameFrom(contentOf(record, balances), context),
  })
  switch (record.record) {
    case 'token':
      return {
        ...common(),
        kind: 'token',
        actor: tokenAddress(record.symbol),
        issuer: issuerOf(record.issuer, context),
        arrival: {
          kind: 'token',
          token: {
            tokenId: record.symbol,
            decimals: record.decimals,
            issuer: record.issuer,
            initialSupply: record.initial_supply,
            totalSupply: record.total_supply,
          },
        },
      }
    case 'nft_class':
      return {
        ...common(),
        kind: 'nft_class',
        actor: classAddress(record.name),
        issuer: issuerOf(record.issuer, context),
        arrival: {
          kind: 'class',
          nftClass: {
            classId: record.class_id,
            name: record.name,
            description: record.description,
            issuer: record.issuer,
            metadataSchema: record.metadata_schema,
          },
        },
      }
    case 'nft_instance':
      return { ...common(), kind: 'nft_instance', ...instanceOf(record, context), issuer: null }
    case 'account':
      return { ...common(), kind: 'account', ...accountOf(record, balances, context), issuer: null }
    case 'ledger':
    case 'attestation':
    case 'used_keys':
    case 'proof':
      return undefined
  }
}

function instanceOf(record: InstanceRecord, { index }: WorkContext): Pick<Homecoming, 'actor' | 'arrival'> {
  const { class_id: classId, instance_id: instanceId, owner, status, metadata } = record
  const issuer = index.issuers.get(classId)
  if (issuer === undefined) throw new Error('an imported NFT has no class')
  return {
    actor: instanceAddress(nftId({ classId, instanceId })),
    arrival: {
      kind: 'instance',
      instance: {
        issuer,
        owner,
        status,
        metadata,
        mintedAtMs: timeMsOf(record.minted_at),
        acquiredAtMs: timeMsOf(record.acquired_at),
        events: eventsOf(record),
      },
    },
  }
}

function accountOf(
  record: AccountRecord,
  balances: Balances,
  { index, source }: WorkContext,
): Pick<Homecoming, 'actor' | 'arrival'> {
  const { account_id: accountId, public_key: jwk } = record
  const key = jwk === null ? null : readPublicKey(jwk)
  if (key === undefined) throw new Error('an imported account has an invalid key')
  return {
    actor: accountAddress(accountId),
    arrival: {
      kind: 'account',
      account: {
        key,
        status: record.status,
        incoming: record.incoming,
        balances,
        nfts: index.owned.get(accountId) ?? 0,
        keySalt: source.keySalt,
        txnCount: record.txn_count,
        tip: hashOf(record.audit_hash),
        createdAt: record.created_at,
        updatedAt: record.updated_at,
      },
    },
  }
}

function issuerOf(accountId: string, context: WorkContext): Issuer | null {
  if (context.index.accounts.has(accountId)) return null
  return { accountId, from: cameFrom({ record: 'issuer', account_id: accountId }, context) }
}

function cameFrom(content: JsonObject, { importId, source }: WorkContext): ArrivedFrom {
  return { ledgerId: source.ledgerId, importId, recordHash: sha256Hex(canonicalJson(content)) }
}

/**
 * Content of a record, independent of its file and line: two exports of the same state give the same content. Balances are
 * decrypted, because each encryption differs. The proof of an entry changes as the log grows.
 */
function contentOf(record: ExportRecord, balances: Balances): JsonObject {
  const { line: _line, previous_hash: _previous, ...content } = record
  if (content.record !== 'account') return content
  const { log_proof: _proof, ...account } = content
  return { ...account, balances }
}
