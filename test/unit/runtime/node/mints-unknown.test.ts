/**
 * I2, I3, I12: a mint whose commits have unknown outcomes begins once, is decided once, and answers each of its
 * requests.
 */
import { describe, expect, test } from 'vitest'
import { classAddress, instanceAddress } from '../../../../actors/address.ts'
import { canonicalJson } from '../../../../actors/canonical-json.ts'
import {
  actorIn,
  answersOf,
  applied,
  hosting,
  item,
  kinds,
  register,
  rotation,
} from '../../../support/shard-hosting.ts'
import { minting, registerClass, SIGNED, TAKEN, told } from './mint-fixture.ts'

describe.for([
  ['applied', true],
  ['not applied', false],
] as const)('a mint whose commit was %s, and not heard of,', ([, happens]) => {
  test('as it was begun and its account’s key rotated in the same batch, is not taken for a forgery', async () => {
    const scene = await minting()
    const { clock, verdicts, gather, send, ask, deliver, decision, control } = scene
    const letGo = await gather()
    const first = ask('once')
    await clock.pass(5)
    send(item(0, 'a', rotation('a')))
    await clock.pass(5)
    letGo()
    scene.loseReply(happens)
    await clock.pass(300)
    expect(control.commit).toBe(applied)
    expect(kinds(verdicts).sort()).toEqual(['registered', 'rotated'])
    deliver(decision(0))
    await clock.pass(20)
    expect(told(verdicts).get(first)).toBe('ruby')
  })

  test('as it was decided, is decided once, and all that waited get the usual reply', async () => {
    const scene = await minting()
    const { clock, verdicts, rows, ask, deliver, carryAgain, decision } = scene
    const [first, again] = [ask('once'), ask('once')]
    await clock.pass(20)
    const end = decision(0)
    scene.loseReply(happens)
    deliver(end)
    await clock.pass(200)
    carryAgain(end)
    await clock.pass(200)
    expect([...told(verdicts)]).toEqual([
      [first, 'ruby'],
      [again, 'ruby, replayed'],
    ])
    const account = rows.account({ shardId: 0, accountId: 'a' })
    expect([account?.holds.size, account?.sequence]).toEqual([0, 1])
  })

  test('as it was refused, is still answered: by that refusal, or by beginning anew', async () => {
    const scene = await minting()
    const { clock, verdicts, asked, ask, deliver, carryAgain, decision } = scene
    const first = ask('once')
    await clock.pass(20)
    const end = decision(0, TAKEN)
    scene.loseReply(happens)
    deliver(end)
    await clock.pass(200)
    carryAgain(end)
    await clock.pass(200)
    // Applied, the refusal has left nothing behind that could be told.
    expect(asked()).toHaveLength(happens ? 2 : 1)
    expect([...told(verdicts)]).toEqual(happens ? [] : [[first, 'instance_exists']])
    if (happens) deliver(decision(1, TAKEN))
    await clock.pass(20)
    expect([...told(verdicts)]).toEqual([[first, 'instance_exists']])
  })
})

describe('from one end to the other, with every home on one node', () => {
  /** A mint for an account of another shard, of which the n-th commit, from 0, is not heard of. How many there were. */
  async function mintAcross(unheardAt: number, happens: boolean) {
    const hosted = hosting([0, 1, 2])
    const { clock, control, keep, rows, verdicts, send } = hosted
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(20)
    send(item(0, classAddress('Gems'), registerClass('a')))
    await clock.pass(200)
    const registered = answersOf(verdicts).find(
      (answer) => typeof answer === 'object' && answer.kind === 'class_registered',
    )
    if (typeof registered !== 'object' || registered.kind !== 'class_registered') throw new Error('There is no class.')
    const { classId } = registered.nftClass
    verdicts.length = 0
    const fields = { account_id: 'a', class_id: classId, instance_id: 'ruby', owner: 'b', metadata: {} }
    const payload = canonicalJson({ ...fields, idempotency_key: 'once' })
    let commits = 0
    control.commit = (batch) => {
      commits += 1
      if (commits - 1 !== unheardAt) return applied(batch)
      if (happens) keep(batch)
      return { kind: 'unknown', detail: 'no answer' }
    }
    const request = item(0, 'a', { kind: 'mint', payload, signature: SIGNED, metadataVerdict: 'valid' })
    send(request)
    await clock.pass(20_000)
    return { rows, verdicts, commits, nftId: `${classId}/ruby`, request }
  }

  test('D7, I9: at whichever of its commits, it is minted once, and answered once and as new', async () => {
    const { commits: most } = await mintAcross(-1, true)
    expect(most).toBeGreaterThan(3)
    for (let unheardAt = 0; unheardAt < most; unheardAt += 1) {
      for (const happens of [true, false]) {
        const { rows, verdicts, nftId, request } = await mintAcross(unheardAt, happens)
        const at = `commit ${unheardAt}, ${happens ? 'applied' : 'not applied'}`
        expect([at, [...told(verdicts)]]).toEqual([at, [[request.requestId, 'ruby']]])
        expect(actorIn(rows, instanceAddress(nftId))).toMatchObject({ status: 'active', owner: 'b', events: 1 })
        expect(rows.nftEvents.history(2, nftId)).toMatchObject([{ type: 'mint', to: 'b' }])
        const [anns, bobs] = [
          rows.account({ shardId: 0, accountId: 'a' }),
          rows.account({ shardId: 1, accountId: 'b' }),
        ]
        expect([at, anns?.nftCount, anns?.sequence, anns?.holds.size]).toEqual([at, 0, 1, 0])
        expect([at, bobs?.nftCount, bobs?.sequence]).toEqual([at, 1, 1])
      }
    }
  })
})
