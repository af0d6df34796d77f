/** Hashes, canonical text and addresses by their documented rules, computed without the ledger's own code. */
import { hash } from 'node:crypto'
import type { AccountCommand, KeyUse } from '../../actors/account/commands.ts'
import type { ActorAddress } from '../../actors/address.ts'

/** The hash before the first entry of a chain: 32 zero bytes. */
export const GENESIS = '0'.repeat(64)

/** 64 lower-case hexadecimal digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text)
}

/** SHA-256 of two hashes of 32 bytes each: the one before and that of the payload. */
export function chainHash(previous: string, payload: string): string {
  return hash('sha256', Buffer.from(previous + sha256Hex(payload), 'hex'))
}

/** RFC 8785, of values without numbers that are no integers. Members that are undefined are left out. */
export function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join(',')}}`
}

/** 43 characters of base64url: how a key that was used on another ledger arrives here. */
export function usedKeyHash(salt: string, accountId: string, { operation, idempotencyKey }: KeyUse): string {
  const text = [salt, accountId, operation, idempotencyKey].join('\n')
  return Buffer.from(sha256Hex(text), 'hex').toString('base64url')
}

export function actorKey({ kind, id }: ActorAddress): string {
  return kind === 'account' ? id : `${kind} ${id}`
}

export function accountAddress(accountId: string): ActorAddress {
  return { kind: 'account', id: accountId }
}

export function tokenAddress(tokenId: string): ActorAddress {
  return { kind: 'token', id: tokenId.toLowerCase() }
}

export function instanceAddress(nftId: string): ActorAddress {
  return { kind: 'instance', id: nftId }
}

/** Names an account within the whole ledger. */
export function addressOf({ shardId, accountId }: { readonly shardId: number; readonly accountId: string }): string {
  return `${shardId} ${accountId}`
}

/** Names one use of an idempotency key. */
export function keyAddressOf(
  at: { readonly shardId: number; readonly accountId: string },
  { operation, idempotencyKey }: KeyUse,
): string {
  return `${addressOf(at)} ${operation} ${idempotencyKey}`
}

/** The idempotency key that a command of an account carries. Those from a header belong to a client, the others to the account. */
export function keyUseOf(command: AccountCommand): KeyUse | undefined {
  switch (command.type) {
    case 'submit':
      return { operation: 'transaction', idempotencyKey: command.idempotencyKey }
    case 'rotate_key':
      return { operation: 'key_rotation', idempotencyKey: command.idempotencyKey }
    case 'mint':
      return { operation: 'mint', idempotencyKey: command.idempotencyKey }
    case 'create_hold':
      return { operation: 'hold', idempotencyKey: command.idempotencyKey }
    case 'register':
    case 'change_status': {
      const { registrationKey, caller } = command
      const operation = command.type === 'register' ? 'registration' : 'status_change'
      return registrationKey === null
        ? undefined
        : { operation, idempotencyKey: `${caller.clientId} ${registrationKey}` }
    }
    default:
      return undefined
  }
}
