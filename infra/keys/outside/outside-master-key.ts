/**
 * A master key outside: an HMAC key that never leaves its device. Each wrapping key is HMAC-SHA-256 of its own label (a
 * pseudorandom function: W1 of ../wrapping-keys.ts holds).
 *   O1. The device must use this key for nothing else: its MACs of these labels are the wrapping keys.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { idOfMasterKey, labelOf, WRAPPING_KEY_BYTES, WRAPPING_USES, type WrappingKeys } from '../wrapping-keys.ts'
import { type OutsideKeys, OutsideKeysUnavailable } from './outside-keys.ts'

/** Throws OutsideKeysUnavailable. */
export async function outsideWrappingKeys(keys: OutsideKeys, reference: string): Promise<WrappingKeys> {
  const uses = [...WRAPPING_USES, 'master-key-id'] as const
  const macs = await keys.mac(
    reference,
    uses.map((use) => Buffer.from(labelOf(use), 'utf8')),
  )
  const isUsable = macs.every(({ length }) => length === WRAPPING_KEY_BYTES)
  if (!isUsable || new Set(macs.map((mac) => mac.toString('hex'))).size !== uses.length) {
    throw new OutsideKeysUnavailable('the key program gave no HMAC-SHA-256')
  }
  const derived = new Map<string, KeyObject>(
    uses.map((use, index) => [use, createSecretKey(macs[index] ?? Buffer.of())]),
  )
  const id = macs.at(-1) ?? Buffer.of()
  const masterKeyId = idOfMasterKey(id)
  derived.delete('master-key-id')
  for (const mac of macs) mac.fill(0)
  return { masterKeyId, keys: Object.fromEntries(derived) }
}
