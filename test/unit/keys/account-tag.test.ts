/** The tag of an account matches its log lines, and reveals nothing else. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAccountTag } from '../../../infra/keys/account-tag.ts'

const KEY = Buffer.alloc(32, 7)

test('an account has one tag of 8 hexadecimal digits under one key', () => {
  const tags = [createAccountTag(KEY), createAccountTag(Buffer.from(KEY))].map((tag) => tag('alice@example'))
  expect(tags).toEqual([expect.stringMatching(/^[0-9a-f]{8}$/), tags[0]])
})

test('other accounts, and other keys, give other tags', () => {
  const tag = createAccountTag(KEY)
  const accounts = Array.from({ length: 1_000 }, (_, index) => `account-${index}`)
  expect(new Set(accounts.map(tag)).size).toBe(1_000)
  expect(createAccountTag(randomBytes(32))('alice@example')).not.toBe(tag('alice@example'))
})
