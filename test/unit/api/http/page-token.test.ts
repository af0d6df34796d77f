import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createPageTokens } from '../../../../api/http/page-token.ts'

const tokens = createPageTokens(new Uint8Array(32).fill(1))
const position = { cursor: 'txn_01 é', count: { total: 9_876_543_210, exact: false } }

test('a page token returns its cursor and count', () => {
  expect(tokens.read('scope', tokens.write('scope', position))).toEqual(position)
  const uncounted = { cursor: '', count: null }
  expect(tokens.read('scope', tokens.write('scope', uncounted))).toEqual(uncounted)
})

test('K1: a page token is valid only for its scope and key', () => {
  const token = tokens.write('scope', position)
  expect(tokens.read('scopf', token)).toBeUndefined()
  expect(createPageTokens(new Uint8Array(32).fill(2)).read('scope', token)).toBeUndefined()
})

test('K2: a page token with one changed character is refused', () => {
  const token = tokens.write('scope', position)
  const accepted = Array.from(token).flatMap((character, index) =>
    ['A', 'B', '-', '_', '=', ' ', ''].filter(
      (other) => other !== character && tokens.read('scope', token.slice(0, index) + other + token.slice(index + 1)),
    ),
  )
  expect(accepted).toEqual([])
  expect(tokens.read('scope', `${token}=`)).toBeUndefined()
  expect(tokens.read('scope', `${token}\n`)).toBeUndefined()
})

test('K3: the longest cursor fits into 512 characters, and longer tokens are refused', () => {
  const token = tokens.write('scope', { cursor: 'x'.repeat(360), count: null })
  expect(token).toHaveLength(512)
  expect(() => tokens.write('scope', { cursor: 'x'.repeat(361), count: null })).toThrow('longer')
  expect(tokens.read('scope', 'A'.repeat(513))).toBeUndefined()
})

test('K4: a token hides its cursor, and the same position gives the same token', () => {
  const token = tokens.write('scope', position)
  expect(tokens.write('scope', position)).toBe(token)
  for (const hidden of ['txn_01', 'é', '\u0002']) {
    expect(Buffer.from(token, 'base64url').toString('utf8').slice(1)).not.toContain(hidden)
  }
  const [one, other] = ['aaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaab'].map((cursor) =>
    Buffer.from(tokens.write('scope', { cursor, count: null }), 'base64url'),
  )
  expect(one?.subarray(1, 20)).not.toEqual(other?.subarray(1, 20))
})

test('a token with a plain cursor and one of another version are refused', () => {
  for (const version of [1, 2]) {
    const content = Buffer.concat([Buffer.from([version, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('txn_01')])
    const mac = createHmac('sha256', new Uint8Array(32).fill(1))
      .update('ledger page token\x005\0scope\0')
      .update(content)
      .digest()
    const token = Buffer.concat([content, mac.subarray(0, 16)]).toString('base64url')
    expect(tokens.read('scope', token)).toBeUndefined()
  }
})

test.for(['', 'x', 'A'.repeat(31), '../..', 'null'])('%j is no token', (text) => {
  expect(tokens.read('scope', text)).toBeUndefined()
})
