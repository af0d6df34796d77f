/** A part key carries exactly the keys of its part, and the error for a damaged one does not quote it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { KeyUnusable, readMasterKey } from '../../../infra/keys/master-key.ts'
import { loadPartKey, partKeyText, readPartKey } from '../../../infra/keys/part-key.ts'
import { type KeyRing, PARTS, ringOfPart, USES_OF_PART, wrappingKey } from '../../../infra/keys/wrapping-keys.ts'

const directory = mkdtempSync(join(tmpdir(), 'part-key-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const MASTER = Buffer.alloc(32, 1).toString('base64url')
const first = readMasterKey(MASTER)
const second = readMasterKey(Buffer.alloc(32, 2).toString('base64url'))
const alone: KeyRing = { current: first, previous: [] }
const both: KeyRing = { current: second, previous: [first] }

/** The exported keys of a ring, for comparison. */
function shown({ current, previous }: KeyRing): unknown {
  return [current, ...previous].map(({ masterKeyId, keys }) => [
    masterKeyId,
    Object.entries(keys).map(([use, key]) => [use, key.export().toString('hex')]),
  ])
}

describe.for(PARTS)('of part %s', (part) => {
  test.for([
    ['one master key', alone],
    ['two of them', both],
  ] as const)('is read as it was made, from %s', ([, ring]) => {
    const text = partKeyText(ring, part)
    expect(text.split('\n')).toHaveLength(1 + 1 + ring.previous.length)
    for (const written of [text, text.trim().replaceAll('\n', ','), `\n  ${text}\n`]) {
      const read = readPartKey(written)
      expect(read.part).toBe(part)
      expect(shown(read.ring)).toEqual(shown(ringOfPart(ring, part)))
    }
  })

  test('shows the name of the part and the ID of the master key, and has no key of another part', () => {
    const text = partKeyText(alone, part)
    expect(text).toMatch(new RegExp(`^lpk1\\.${part}\\.${first.masterKeyId}\\.`))
    const inside = Buffer.from(text.trim().split('.')[3] ?? '', 'base64url').toString('utf8')
    const mine: readonly string[] = USES_OF_PART[part]
    for (const [use, key] of Object.entries(first.keys)) {
      expect(inside.includes(key.export().toString('base64url'))).toBe(mine.includes(use))
    }
    expect(inside).not.toContain(MASTER)
  })

  test('creates a part key of the same part, and of no other', () => {
    const { ring } = readPartKey(partKeyText(both, part))
    expect(partKeyText(ring, part)).toBe(partKeyText(both, part))
  })
})

const EDGE = partKeyText(alone, 'edge').trim()
const NODE = partKeyText(alone, 'node').trim()
const [version = '', , id = '', keys = ''] = NODE.split('.')
const WITHOUT_ONE = JSON.parse(Buffer.from(keys, 'base64url').toString('utf8')) as Record<string, string>
delete WITHOUT_ONE['receipt-keys']

test.for([
  ['nothing', ''],
  ['a master key', Buffer.alloc(32, 1).toString('base64url')],
  ['another version', NODE.replace('lpk1', 'lpk2')],
  ['a part that there is not', NODE.replace('node', 'owner')],
  ['one that was cut off', NODE.slice(0, -9)],
  ['a line of another part', `${EDGE}\n${NODE}`],
  ['the keys of another part under its name', [version, 'edge', id, keys].join('.')],
  [
    'one without a key',
    [version, 'node', id, Buffer.from(JSON.stringify(WITHOUT_ONE)).toString('base64url')].join('.'),
  ],
  ['not an object', [version, 'node', id, Buffer.from('[]').toString('base64url')].join('.')],
  ['more lines than there are master keys', Array(9).fill(NODE).join('\n')],
])('%s is refused, and not shown', ([, text = '']) => {
  const reading = (): unknown => readPartKey(text)
  expect(reading).toThrow(KeyUnusable)
  for (const secret of Object.values(WITHOUT_ONE)) expect(reading).not.toThrow(secret)
})

test('additional keys of a later version are accepted', () => {
  const later = { ...JSON.parse(Buffer.from(keys, 'base64url').toString('utf8')), 'later-keys': 'x' } as unknown
  const text = [version, 'node', id, Buffer.from(JSON.stringify(later)).toString('base64url')].join('.')
  expect(shown(readPartKey(text).ring)).toEqual(shown(ringOfPart(alone, 'node')))
})

test('a file is read, and a missing one is reported', async () => {
  const path = join(directory, 'part.key')
  writeFileSync(path, `${NODE}\n`)
  const { part, ring } = await loadPartKey(path)
  expect([part, wrappingKey(ring.current, 'receipt-keys').symmetricKeySize]).toEqual(['node', 32])
  await expect(loadPartKey(join(directory, 'none'))).rejects.toThrow(KeyUnusable)
})
