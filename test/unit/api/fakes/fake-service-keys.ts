/** Fresh keys of the service. A test may make a call fail. */
import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { KEY_PURPOSES, type PublishedKey, type ServiceKeys } from '../../../../runtime/ports/service-keys.ts'
import { coordinatesOf } from '../../../support/client/client-keys.ts'

export interface FakeServiceKeys extends ServiceKeys {
  readonly keys: PublishedKey[]
  /** Adds a token key and signs with it from now on. */
  readonly rotate: () => string
  /** Adds a key of the purpose that is in use from `fromMs`. */
  readonly rotateAt: (purpose: PublishedKey['purpose'], fromMs: number) => void
  readonly signWith: (keyId: string, text: string) => string
  /** The call that throws. */
  failsAt: 'current' | 'sign' | null
}

export function createFakeServiceKeys(activeFromMs: number): FakeServiceKeys {
  const privateKeys = new Map<string, KeyObject>()
  const keys: PublishedKey[] = []
  const add = (purpose: PublishedKey['purpose'], fromMs = activeFromMs): string => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const { x, y } = coordinatesOf(publicKey)
    const keyId = createHash('sha256').update(`${x}${y}`).digest('base64url')
    privateKeys.set(keyId, privateKey)
    keys.push({
      keyId,
      purpose,
      x,
      y,
      activeFromMs: fromMs,
      retiredAtMs: null,
      revokedAtMs: null,
    })
    return keyId
  }
  for (const purpose of KEY_PURPOSES) add(purpose)
  const signWith = (keyId: string, text: string): string => {
    const key = privateKeys.get(keyId)
    if (key === undefined) throw new Error('no such key')
    return createSign('sha256').update(text).sign(key, 'base64')
  }
  const failAt = (call: 'current' | 'sign'): void => {
    if (fake.failsAt === call) throw new Error('the keys are away')
  }
  const fake: FakeServiceKeys = {
    keys,
    failsAt: null,
    published: () => keys,
    current: (purpose, datedMs = activeFromMs) => {
      failAt('current')
      const all = keys.filter((key) => key.purpose === purpose)
      return (all.findLast((key) => key.activeFromMs <= datedMs) ?? all[0])?.keyId ?? ''
    },
    sign: async (keyId, payloads) => {
      failAt('sign')
      return payloads.map((payload) => signWith(keyId, payload))
    },
    signWith,
    rotate: () => add('token'),
    rotateAt: (purpose, fromMs) => {
      const index = keys.findLastIndex((key) => key.purpose === purpose)
      const last = keys[index]
      if (last !== undefined) keys[index] = { ...last, retiredAtMs: fromMs }
      add(purpose, fromMs)
    },
  }
  return fake
}
