/** The examples in the documents of C2SP: tlog-checkpoint, tlog-witness, tlog-tiles and tlog-policy. */
import { expect, test } from 'vitest'
import { checkpointText, parseCheckpoint } from '../../../api/client/log/checkpoint.ts'
import {
  noteText,
  parseNote,
  signatureLine,
  signatureOf,
  verifierKeyText,
} from '../../../api/client/log/signed-note.ts'
import { meetsQuorum, parsePolicy } from '../../../api/client/log/trust-policy.ts'
import { createNoteSigner } from '../../../infra/log/log-signer.ts'
import { parseWitnessRequest, witnessRequestText } from '../../../infra/log/witness-request.ts'
import { EMPTY_TREE, grow, HASH_BYTES } from '../../../runtime/log/tree.ts'

const CHECKPOINT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`

test('tlog-checkpoint: the example keeps its bytes', () => {
  const note = parseNote(CHECKPOINT)
  const head = parseCheckpoint(note?.text ?? '')
  if (note === undefined || head === undefined) throw new Error('the example is malformed')
  expect(head).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
  expect([checkpointText(head), noteText(note)]).toEqual([note.text, CHECKPOINT])
  expect(note.signatures).toMatchObject([{ name: 'example.com/behind-the-sofa', keyId: '033de0ae' }])
})

test('tlog-witness: the example of a request and that of a reply keep their bytes', () => {
  const request = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

${CHECKPOINT}— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
`
  const parsed = parseWitnessRequest(request)
  if (parsed === undefined) throw new Error('the example is malformed')
  expect([parsed.oldSize, parsed.proof.length, parsed.checkpoint.signatures.length]).toEqual([20_852_014, 4, 2])
  expect(witnessRequestText(parsed)).toBe(request)
  const reply = [
    '— witness.example/w1 CMp+6LWBU0anHGH5aNDTJkH/gj79sG+T6+iP2ThYN5krrDJbR1HDnucjL39QsZTSvVjyQLrdk3DXDqI5G2HgLatVs0pWh6Up69HVOw==',
    '— witness.example/w2 AWui8Sk55XjYLOijihBjhqEH6nS1ndDymE0a+6idX7pLcnoB+dhnz0854aLZgrrKbYKA7nC3HNJhm/kWl7oJlqU3rXXvpysAdyP3wQ==',
  ]
  for (const line of reply) {
    const signature = signatureOf(line)
    // A time of 8 bytes and a signature of 64 bytes.
    expect(signature?.bytes.length).toBe(72)
    expect(signature && signatureLine(signature)).toBe(`${line}\n`)
  }
})

test('tlog-tiles: a tree of 70,000 entries has the tiles of the example', () => {
  const { tiles } = grow(EMPTY_TREE, Buffer.alloc(70_000 * HASH_BYTES, 1))
  const widths = [0, 1, 2].map((level) =>
    tiles.filter((tile) => tile.level === level).map(({ hashes }) => hashes.length / HASH_BYTES),
  )
  expect(widths).toEqual([[...Array.from({ length: 273 }, () => 256), 112], [256, 17], [1]])
  expect(tiles.length).toBe(274 + 2 + 1)
})

test('tlog-policy: the example needs two witnesses of one organization and one of the other', async () => {
  const vkey = async (name: string, byte: number) => {
    const { key } = await createNoteSigner(name, name === 'log' ? 'log' : 'witness', Buffer.alloc(32, byte))
    return verifierKeyText(key)
  }
  const witnesses = ['X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3']
  const lines = await Promise.all(witnesses.map(async (name, at) => `witness ${name} ${await vkey(name, at)}`))
  const policy = await parsePolicy(`log ${await vkey('log', 9)}

${lines.slice(0, 3).join('\n')}
group X-witnesses 2 X1 X2 X3

${lines.slice(3).join('\n')}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`)
  const isMetBy = (...names: readonly string[]): boolean => meetsQuorum(policy, new Set(names))
  expect([isMetBy('X1', 'X3', 'Y2'), isMetBy(...witnesses)]).toEqual([true, true])
  expect([isMetBy('X1', 'X2', 'X3'), isMetBy('X1', 'Y1', 'Y2', 'Y3'), isMetBy()]).toEqual([false, false, false])
})
