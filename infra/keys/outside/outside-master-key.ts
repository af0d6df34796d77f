/**
 * A master key outside: an HMAC key that never leaves its device. Each wrapping key is HMAC-SHA-256 of its own label (a
 * pseudorandom function: W1 of ../wrapping-keys.ts holds).
 *   O1. The device must use this key for nothing else: its MACs of these labels are the wrapping keys.
 *   O2. It is asked twice: keys that a faulty device gives once would seal secrets for ever.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { idOfMasterKey, labelOf, WRAPPING_KEY_BYTES, WRAPPING_USES, type WrappingKeys } from '../wrapping-keys.ts'
import { type OutsideKeys, OutsideKeysUnavailable } from './outside-keys.ts'

/** Throws OutsideKeysUnavailable. */
export async function outsideWrappingKeys(keys: OutsideKeys, reference: string): Promise<WrappingKeys> {
  const uses = [...WRAPPING_USES, 'master-key-id'] as const
  const labels = uses.map((use) => Buffer.from(labelOf(use), 'utf8'))
  const macs = await keys.mac(reference, labels)
  const again = await keys.mac(reference, labels)
  if (!macs.every((mac, index) => mac.equals(again[index] ?? Buffer.of()))) {
    throw new OutsideKeysUnavailable('the key program gave two MACs of one text')
  }
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
  for (const mac of [...macs, ...again]) mac.fill(0)
  return { masterKeyId, keys: Object.fromEntries(derived) }
}
