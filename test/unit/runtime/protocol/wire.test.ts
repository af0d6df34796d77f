/** F1, F4, F5: an accepted message has a known version and its shape. Any other fails alone. */
import { describe, expect, test } from 'vitest'
import {
  accountAddress,
  type ActorAddress,
  groupAddress,
  instanceAddress,
  tokenAddress,
} from '../../../../actors/address.ts'
import type { Arrival, ArrivedFrom } from '../../../../actors/arrival.ts'
import type { Message } from '../../../../actors/message.ts'
import type { Delivery, Item, ItemVerdict, Operation } from '../../../../runtime/protocol/messages.ts'
import {
  decodeFrame,
  decodeList,
  DELIVERIES,
  encodeFrame,
  ITEMS,
  type ListForm,
  UNSUPPORTED_VERSION,
  VERDICTS,
  WIRE,
} from '../../../../runtime/protocol/wire.ts'
import { KEY } from '../../../support/accounts.ts'
import { itemsBody } from '../../../support/bodies.ts'
import { plainEnvelope, READS_NEXT, WRITES_NEXT } from '../../../support/nats/next-wire.ts'
import { arriving, credit, item, register } from '../../../support/shard-hosting.ts'

const from: ArrivedFrom = { ledgerId: 'other', importId: 'import', recordHash: 'ab'.repeat(32) }
const ARRIVALS: readonly Arrival[] = [
  { kind: 'account', account: null },
  {
    kind: 'account',
    account: {
      key: KEY,
      status: 'frozen',
      incoming: 'accept',
      balances: { BASE: '1' },
      nfts: 0,
      keySalt: 'salt',
      txnCount: 2,
      tip: 'tip',
      createdAt: '2030-01-01T00:00:00Z',
      updatedAt: '2030-01-01T00:00:00Z',
    },
  },
  { kind: 'token', token: { tokenId: 'T', decimals: 2, issuer: 'a', initialSupply: '1', totalSupply: '2' } },
  {
    kind: 'class',
    nftClass: { classId: 'c', name: 'n', description: '', issuer: 'a', metadataSchema: { type: 'object' } },
  },
  {
    kind: 'instance',
    instance: {
      issuer: 'a',
      owner: 'b',
      status: 'active',
      metadata: { color: 'red' },
      mintedAtMs: 1.5,
      acquiredAtMs: 2,
      events: [
        {
          number: 0,
          type: 'mint',
          from: null,
          to: 'b',
          txnId: 't',
          atMs: 1,
          previousHash: 'p',
          eventHash: 'h',
          payload: '{}',
        },
      ],
    },
  },
]
const OPERATIONS: readonly Operation[] = [
  credit('a', 'k'),
  register,
  { kind: 'rotate_key', payload: '{}', signature: 's', proof: null },
  { kind: 'mint', payload: '{}', signature: 's', metadataVerdict: 'unchecked' },
  { kind: 'change_status', status: 'frozen', incoming: null, reason: 'r' },
  { kind: 'erase', reason: 'r' },
  ...ARRIVALS.map((arrival): Operation => ({ kind: 'hold_arrival', from, arrival })),
  { kind: 'note_used_keys', importId: 'i', part: 0, hashes: ['h'] },
  { kind: 'take_arrival', importId: 'i' },
  { kind: 'drop_arrival', importId: 'i' },
  { kind: 'depart', audience: 'l', tokenId: null },
  { kind: 'register_token', payload: '{}', signature: null, registrationKey: 'k' },
  { kind: 'register_class', payload: '{}', signature: 's', registrationKey: null },
  { kind: 'register_group', payload: '{}', registrationKey: null },
  { kind: 'revert_group', reason: 'r', transactions: [{ txnId: 't', accountId: 'a' }] },
]
const trace = { traceId: 't', spanId: 's', parentSpanId: 'p', sampled: true, state: '' }
const ITEM_SAMPLES: readonly Item[] = OPERATIONS.map((operation, index) =>
  item(0, 'a', operation, {
    caller: { clientId: 'c', role: 'transactor', boundary: index % 2 === 0 ? ['BASE'] : false },
    ...(index === 0 ? { trail: { requestId: 'r', trace } } : {}),
    deadlineMs: 17.5,
  }),
)
const DELIVERY: Delivery = {
  source: 1,
  target: 0,
  epoch: 3,
  attempt: 0,
  began: 4,
  acknowledged: 3,
  messages: [arriving(4, 'a')],
}
const receipt = { txnId: 't', accountId: 'a', shardId: 0, enqueuedAtMs: 1, groupId: null }
const VERDICT_SAMPLES: readonly ItemVerdict[] = [
  { kind: 'answered', answer: { kind: 'accepted', receipt, replayed: false, mismatch: false } } as const,
  { kind: 'answered', answer: { kind: 'arrival', state: 'held' } } as const,
  { kind: 'answered', answer: { kind: 'refused', code: 'expired', detail: 'd', field: null } } as const,
  { kind: 'moved', epoch: null } as const,
  { kind: 'overloaded' } as const,
  { kind: 'not_applied' } as const,
  { kind: 'unsupported_version' } as const,
].map((verdict) => ({ requestId: 'r', attempt: 1, verdict }))

/** Every value of a document, by its path. */
function pathsIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))]
}

function changed(value: unknown, [name, ...rest]: readonly string[], put: unknown): unknown {
  if (name === undefined) return put
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...(value as unknown[])]
    : { ...(value as object) }
  Reflect.set(copy, name, changed(Reflect.get(copy, name), rest, put))
  return copy
}

describe('a body', () => {
  test.for([
    ['no JSON', '{'],
    ['an array, as it was before there were versions', '[]'],
    ['null', 'null'],
    ['a text', '"version"'],
    ['without a version', '{"body":[]}'],
    ['with a text for a version', '{"version":"1","body":[]}'],
    ['of a later version', '{"version":2,"body":[]}'],
    ['of version 0', '{"version":0,"body":[]}'],
    ['the refusal of a body', UNSUPPORTED_VERSION],
  ] as const)('%s is not read', ([, text]) => {
    expect(decodeFrame(text, WIRE)).toBeUndefined()
    expect(decodeList(text, ITEMS, WIRE)).toBeUndefined()
  })

  test('that is not a list is not decoded as one', () => {
    expect(decodeList(encodeFrame(1, {}), ITEMS, WIRE)).toBeUndefined()
  })

  test('names its version, and another readable version is read', () => {
    expect(decodeFrame(encodeFrame(2, []), READS_NEXT)).toEqual({ version: 2, body: [] })
  })
})

describe('members of a list', () => {
  const forms: readonly (readonly [string, ListForm<unknown, unknown>, readonly unknown[]])[] = [
    ['items', ITEMS, ITEM_SAMPLES],
    ['verdicts', VERDICTS, VERDICT_SAMPLES],
    ['deliveries', DELIVERIES, [DELIVERY]],
  ]

  test.for(forms)(
    '%s: one with the shape is read unchanged, and members of a later release are ignored',
    ([, form, samples]) => {
      const extended = samples.map((sample) => ({ ...(sample as object), added: { later: true } }))
      expect(decodeList(encodeFrame(1, extended), form, WIRE)).toEqual({ version: 1, members: extended, malformed: [] })
    },
  )

  test.for(forms)(
    '%s: a malformed one is named or dropped, never read, and the others are read',
    ([, form, samples]) => {
      const good = samples[0]
      for (const sample of samples) {
        for (const path of pathsIn(sample).slice(1)) {
          for (const wrong of [undefined, true, -1, 0.5, [[]], { kind: 7 }]) {
            const bad = JSON.parse(JSON.stringify(changed(sample, path, wrong))) as unknown
            const members = decodeList(encodeFrame(1, [good, bad, good]), form, WIRE)?.members.length
            expect([path, wrong, members]).toEqual([path, wrong, members === 3 && mayBe(path, wrong) ? 3 : 2])
          }
        }
      }
    },
  )

  test('an item of an unknown kind, or for an unknown kind of actor, is named for the reply', () => {
    const [good] = ITEM_SAMPLES
    const unknown = [
      { ...good, requestId: 'kind', operation: { kind: 'constructor' } },
      { ...good, requestId: 'actor', actor: { kind: 'vault', id: 'v' } },
      { ...good, requestId: 'role', caller: { clientId: 'c', role: 'owner', boundary: true } },
    ]
    expect(decodeList(encodeFrame(1, unknown), ITEMS, WIRE)?.malformed).toMatchObject(
      unknown.map(({ requestId }) => ({ requestId, attempt: 1 })),
    )
  })

  test('a refusal for an unknown reason is not accepted', () => {
    const refused = { kind: 'refused', code: 'unheard_of', detail: '', field: null }
    const verdict = { requestId: 'r', attempt: 1, verdict: { kind: 'answered', answer: refused } }
    expect(decodeList(encodeFrame(1, [verdict]), VERDICTS, WIRE)).toMatchObject({ members: [], malformed: [verdict] })
  })
})

/** Free-form contents of a node or a client, which other code checks. */
const OPEN = new Set(['metadata', 'metadataSchema', 'envelope', 'answer'])
const ANY_NUMBER = new Set(['deadlineMs', 'mintedAtMs', 'acquiredAtMs', 'atMs'])
const MAY_BE_TRUE = new Set(['boundary', 'sampled'])
const MAY_BE_ABSENT = new Set(['trail', 'trace', 'BASE'])

/** Whether a member may have that value, independent of its original one. */
function mayBe(path: readonly string[], wrong: unknown): boolean {
  const name = path.at(-1) ?? ''
  if (path.some((one, depth) => OPEN.has(one) && (depth < path.length - 1 || isObject(wrong)))) return true
  if (typeof wrong === 'number') return ANY_NUMBER.has(name)
  if (wrong === true) return MAY_BE_TRUE.has(name)
  return wrong === undefined && MAY_BE_ABSENT.has(name)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

describe('an envelope', () => {
  const message: Message = { type: 'conclude_transfer', txnId: 't', failure: null, counterTxnId: null }
  const envelope = { to: accountAddress('a'), message, carries: [{ tokenId: 'BASE', quantity: '-1' }] }

  test('is written and read with its version', () => {
    const written = WIRE.writeEnvelope(envelope)
    expect(written).toEqual({ version: 1, ...envelope })
    expect(WIRE.readEnvelope(written)).toBe(written)
  })

  test.for<readonly [string, object]>([
    ['of a later version', { version: 2 }],
    ['without a version', { version: undefined }],
    ['of a version that is no number', { version: '1' }],
    ['to an unknown kind of actor', { to: { kind: 'vault', id: 'v' } }],
    ['of an unknown type', { message: { type: 'unheard_of' } }],
    ['of a type that every object has', { message: { type: 'toString' } }],
    ['of a type of another kind of actor', { to: groupAddress('g') }],
    ['that carries what cannot be counted', { carries: [{ tokenId: 'BASE', quantity: 1 }] }],
    ['without a message', { message: null }],
  ])('%s is not read', ([, change]) => {
    expect(WIRE.readEnvelope({ ...WIRE.writeEnvelope(envelope), ...change })).toBeUndefined()
  })

  test('is read for each kind of actor', () => {
    const leg = { groupId: 'g', leg: 0, role: 'own' } as const
    const addressed: readonly (readonly [ActorAddress, Message])[] = [
      [groupAddress('g'), { type: 'leg_settled', ...leg }],
      [tokenAddress('t'), { type: 'issue_credited' }],
      [instanceAddress('c/i'), { type: 'settle_leg', ...leg }],
      [
        { kind: 'exchange', id: 'g' },
        { type: 'nft_delivered', txnId: 't' },
      ],
      [
        { kind: 'class', id: 'n' },
        { type: 'issue_prepared', refused: null },
      ],
    ]
    for (const [to, message] of addressed) {
      expect(WIRE.readEnvelope({ version: 1, to, message, carries: [] })).toBeDefined()
    }
  })

  test('of the next version is read by the release that prepares for it, but not by the one before', () => {
    const written = WRITES_NEXT.writeEnvelope(envelope)
    expect(written).toMatchObject({ version: 2, to: envelope.to, message: { type: 'transfer_decided', since: 2 } })
    expect(plainEnvelope(written)).toEqual(envelope)
    expect(READS_NEXT.readEnvelope(written)).toMatchObject(envelope)
    expect(WIRE.readEnvelope(written)).toBeUndefined()
  })
})

test('the body of items names its version', () => {
  expect(JSON.parse(itemsBody(ITEM_SAMPLES))).toEqual({ version: 1, body: ITEM_SAMPLES })
})
