/**
 * The ID of a settlement group whose client chose none (D10).
 *   U1. The same client with the same `Idempotency-Key` gets the same ID: the group's home, which recognizes the repeat,
 *       is found by it.
 *   U2. The ID cannot be guessed before the response: no other client can register a group under it first.
 */
import { createHmac } from 'node:crypto'
import { uuidOf } from '../../actors/identifiers.ts'
import type { Random } from '../../runtime/ports/random.ts'

export type NewGroupId = (clientId: string, registrationKey: string | null) => string

const UUID_BYTES = 16
/** Why this MAC can be mistaken for nothing else that the same key might ever sign. */
const PURPOSE = 'ledger group id'

/** `key`: 32 bytes, the same on every edge. */
export function createGroupIds(random: Random, key: Uint8Array): NewGroupId {
  return (clientId, registrationKey) => {
    if (registrationKey === null) return randomUuid(random)
    const named = JSON.stringify([clientId, registrationKey])
    return uuidOf(createHmac('sha256', key).update(`${PURPOSE}\0${named}`).digest('hex'))
  }
}

/** Version 4 (RFC 9562). */
function randomUuid(random: Random): string {
  const digits = random.hex(UUID_BYTES)
  const variant = '89ab'.charAt(Number.parseInt(digits.charAt(16), 16) % 4)
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    variant + digits.slice(17, 20),
    digits.slice(20, 32),
  ].join('-')
}
