/**
 * The evidence for a command, from the current rows alone, without any node's memory or earlier look-ups.
 *   E1. Facts of other shards never change: an earlier look-up may have found fewer of them, but never more.
 *   E2. A repeated question gets the first answer, so that the command can be stepped again later.
 */
import type { AccountCommand, KeyUse } from '../../../actors/account/commands.ts'
import type { EarlierUse } from '../../../actors/account/outcome.ts'
import type { Evidence } from '../../../actors/account/evidence.ts'
import type { CompensableTransaction } from '../../../actors/account/transaction.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'
import type { GroupUse, KeyAddress } from '../../../runtime/ports/ledger-store.ts'
import {
  accountAddress,
  addressOf,
  instanceAddress,
  keyUseOf,
  tokenAddress,
  usedKeyHash,
} from '../../support/reference-encoding.ts'
import type { Rows } from '../store/rows.ts'

/** Operations whose idempotency keys travel with an account: those that its signature covers. */
const TRAVELLING: ReadonlySet<string> = new Set(['transaction', 'key_rotation', 'mint', 'hold'])

export interface EvidenceSettings {
  readonly ledgerId: string
  readonly homeOf: (actor: ActorAddress) => number
  readonly verifies: (publicKey: string, payload: string, signature: string) => boolean
}

export interface RowEvidence extends Evidence {
  /** Whether the step used a fact of another shard that may not have been known yet (E1). */
  readonly usedForeignFacts: () => boolean
}

export function evidenceFor(
  rows: Rows,
  shardId: number,
  actor: ActorAddress,
  command: AnyCommand,
  { ledgerId, homeOf, verifies }: EvidenceSettings,
): RowEvidence {
  let usedForeignFacts = false
  const answers = new Map<string, unknown>()
  const once = <T>(question: string, find: () => T): T => {
    if (!answers.has(question)) answers.set(question, find())
    return answers.get(question) as T
  }
  const ofOthers = <T>(question: string, find: () => T): T => {
    const found = once(question, find)
    usedForeignFacts ||= found !== undefined && found !== false
    return found
  }
  const homed = (address: ActorAddress) => ({ shardId: homeOf(address), address })
  return {
    usedForeignFacts: () => usedForeignFacts,
    ledgerId,
    production: false,
    residence: { resident: true, mailbox: 1 },
    earlier: earlierUse(rows, shardId, actor, command),
    verdict: (keyId, signature) =>
      once(`verdict ${keyId} ${signature}`, () => {
        const publicKey = publicKeyOf(rows, shardId, actor, command, keyId)
        const payload = 'payload' in command ? command.payload : ''
        return publicKey === undefined ? undefined : verifies(publicKey, payload, signature)
      }),
    token: (tokenId) =>
      ofOthers(`token ${tokenId}`, () => {
        const state = rows.actors.state(homed(tokenAddress(tokenId)))
        if (state?.kind !== 'token' || state.status === 'preparing' || state.tokenId !== tokenId) return undefined
        return { tokenId, decimals: state.decimals, issuer: state.issuer }
      }),
    nftClass: (classId) => ofOthers(`class ${classId}`, () => rows.actors.classFacts(classId)),
    minted: (nftId) => ofOthers(`minted ${nftId}`, () => rows.actors.isMinted(homed(instanceAddress(nftId)))),
    exists: (accountId) =>
      ofOthers(`exists ${accountId}`, () =>
        rows.accounts.has(addressOf({ shardId: homeOf(accountAddress(accountId)), accountId })),
      ),
    groupUses: groupUses(rows, shardId, command),
    transaction: named(rows, shardId, command),
    usedElsewhere: usedElsewhere(rows, shardId, actor, command),
  }
}

function earlierUse(
  rows: Rows,
  shardId: number,
  { kind, id }: ActorAddress,
  command: AnyCommand,
): EarlierUse | undefined {
  const use: KeyUse | undefined = kind === 'account' ? keyUseOf(command as AccountCommand) : undefined
  const address: KeyAddress | undefined = use && { shardId, accountId: id, ...use }
  return address && rows.earlierUse(address)
}

function usedElsewhere(
  rows: Rows,
  shardId: number,
  { kind, id }: ActorAddress,
  command: AnyCommand,
): boolean | undefined {
  const salt = rows.accounts.get(addressOf({ shardId, accountId: id }))?.arrived?.keySalt
  const use = kind === 'account' ? keyUseOf(command as AccountCommand) : undefined
  if (salt === undefined || salt === null || use === undefined) return undefined
  if (!TRAVELLING.has(use.operation)) return undefined
  const hash = usedKeyHash(salt, id, use)
  return rows.earlierUse({ shardId, accountId: id, operation: 'elsewhere', idempotencyKey: hash }) !== undefined
}

/** A key that the account has or had, or that the command brings. */
function publicKeyOf(
  rows: Rows,
  shardId: number,
  { id: accountId }: ActorAddress,
  command: AnyCommand,
  keyId: string,
): string | undefined {
  if (command.type === 'rotate_key' && command.newKey.keyId === keyId) return command.newKey.publicKey
  return rows.keys.get(addressOf({ shardId, accountId }))?.find((key) => key.keyId === keyId)?.publicKey
}

function groupUses(rows: Rows, shardId: number, command: AnyCommand): readonly GroupUse[] {
  if (command.type !== 'submit' || command.submission.groupId === null) return []
  const { accountId, groupId, tokenId } = command.submission
  const address = { shardId, accountId, groupId, tokenId }
  const types = ['transfer', 'credit'] as const
  return types.flatMap((type) => rows.transactionTable.groupUses({ ...address, type }))
}

/** The transaction that the command compensates or refunds. */
function named({ transactionTable }: Rows, shardId: number, command: AnyCommand): CompensableTransaction | undefined {
  if (command.type === 'compensate') return transactionTable.compensable({ shardId, txnId: command.compensates })
  if ('submission' in command) {
    const { accountId, refunds } = command.submission
    return refunds === null ? undefined : transactionTable.credit({ shardId, accountId, txnId: refunds })
  }
  if (!('refunds' in command) || command.refunds === undefined) return undefined
  const { accountId, refunds: txnId } = command
  return command.type === 'receive_transfer'
    ? transactionTable.compensable({ shardId, txnId })
    : transactionTable.credit({ shardId, accountId, txnId })
}
