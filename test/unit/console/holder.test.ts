/** Keys and orders of an account holder: a lost reply costs neither a key nor a second payment. */
import { describe, expect, test } from 'vitest'
import {
  type AccountKey,
  type LedgerClient,
  LedgerError,
  type Order,
  type Submission,
} from '../../../api/client/index.ts'
import { followOrder, isUndecided, sendOrder } from '../../../api/console/pages/holder/order-progress.ts'
import { registerNewKey } from '../../../api/console/pages/holder/registration.ts'
import { failureText } from '../../../api/console/parts/failure-text.ts'

const lost = new LedgerError('lost', { codes: ['ERR_UNREACHABLE'], outcome: 'unknown' })
const absent = new LedgerError('absent', { codes: ['ERR_NOT_FOUND'], status: 404 })
const refused = new LedgerError('refused', { codes: ['ERR_CONFLICT'], status: 409, outcome: 'not_applied' })
const key = { keyId: 'new key' } as AccountKey

describe('the registration of a new key', () => {
  /** `shown`: the key of the account at the ledger, or the error of its look-up. Resolves with the keys that are left. */
  async function keysAfter(
    error: Error,
    shown: string | Error,
    kept: readonly string[] = [],
  ): Promise<readonly string[]> {
    const keys = new Set(kept)
    const client = {
      registerAccount: async () => {
        throw error
      },
      call: async () => {
        if (typeof shown !== 'string') throw shown
        return { key_id: shown }
      },
    } as object as LedgerClient
    const registering = registerNewKey(
      client,
      { ledgerId: 'ledger', accountId: 'alice', createdAtMs: 0, key },
      {
        keepAccount: async () => {
          if (keys.size > 0) throw error
          keys.add(key.keyId)
        },
        forgetAccount: async () => keys.clear(),
      },
    )
    await expect(registering).rejects.toBe(error)
    return [...keys]
  }

  test('leaves a key that this browser already holds', async () => {
    expect(await keysAfter(refused, absent, ['old key'])).toEqual(['old key'])
  })

  test('keeps the key if the ledger may have registered it', async () => {
    expect(await keysAfter(lost, absent)).toEqual(['new key'])
    expect(await keysAfter(refused, 'new key')).toEqual(['new key'])
    expect(await keysAfter(refused, lost)).toEqual(['new key'])
  })

  test('forgets the key if the ledger refused it', async () => {
    expect(await keysAfter(refused, 'another key')).toEqual([])
    expect(await keysAfter(refused, absent)).toEqual([])
  })
})

describe('an order whose page is left', () => {
  test('is sent, and no longer followed', async () => {
    const signals: unknown[] = []
    const leaving = new AbortController()
    const submission = { account_id: 'alice', type: 'credit', amount: '1' } as Submission
    const session = {
      signal: leaving.signal,
      client: {
        call: async (_: string, { signal }: { readonly signal?: AbortSignal }) => {
          signals.push(signal)
          return { txn_id: 'txn', account_id: 'alice' }
        },
        waitForTransaction: async (_: string, { signal }: { readonly signal: AbortSignal }) => {
          signals.push(signal)
          leaving.abort(new Error('left'))
          return signal.throwIfAborted()
        },
      },
    } as object as Parameters<typeof sendOrder>[0]
    const ended = await sendOrder(session, { order: submission, submission, signedText: '' }, () => undefined)
    expect({ txnId: ended.txnId, error: String(ended.error), signals }).toEqual({
      txnId: 'txn',
      error: 'Error: left',
      signals: [undefined, leaving.signal],
    })
  })
})

describe('an order whose reply is lost', () => {
  const order = { account_id: 'alice', type: 'credit', amount: '1' } as Order

  test('is sent again with the signature and the idempotency key that it has', async () => {
    const sent: unknown[] = []
    let signed = 0
    const session = {
      client: {
        sign: async () => {
          signed += 1
          return { ...order, idempotency_key: `key ${signed}` } as Submission
        },
        call: async (_: string, { body }: { readonly body: unknown }) => {
          sent.push(body)
          throw lost
        },
      },
    } as object as Parameters<typeof followOrder>[0]
    const first = await followOrder(session, order, key, () => undefined)
    expect(first).toMatchObject({ error: lost, submission: { idempotency_key: 'key 1' } })
    const { submission, signedText } = first as Required<typeof first>
    await sendOrder(session, { order, submission, signedText }, () => undefined)
    expect(sent).toEqual([submission, submission])
  })

  test('is undecided, and a refused one is not', () => {
    const submission = { ...order, idempotency_key: 'key' } as Submission
    expect(isUndecided({ order, submission, error: lost })).toBe(true)
    expect(isUndecided({ order, submission, txnId: 'txn', error: new Error('lost') })).toBe(true)
    expect(isUndecided({ order, submission, error: refused })).toBe(false)
    expect(isUndecided({ order, submission })).toBe(false)
    expect(isUndecided({ order, error: lost })).toBe(false)
  })

  test('is told as one that the ledger may have accepted', () => {
    expect(failureText(lost).advice).toContain('It may have been accepted.')
  })
})
