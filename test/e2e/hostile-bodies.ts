/** Bodies of POST /v1/transactions that must be refused before anybody looks at the ledger. */
import { canonical, type Members, type Value } from '../support/client-keys.ts'

/** A submission that is right in everything but what a case changes; its signature only has to be there. */
export const WELL_FORMED: Members = {
  account_id: 'target@hostile',
  amount: '1',
  type: 'credit',
  idempotency_key: 'hostile',
  signature: 'AAAA',
}

const TEXT = JSON.stringify(WELL_FORMED)
const INSIDE = TEXT.slice(1, -1)

function nested(depth: number): string {
  return `{${INSIDE},"metadata":${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}}`
}

function withBytes(...bytes: readonly number[]): Buffer {
  const [before = '', after = ''] = `{${INSIDE},"metadata":{"a":"|"}}`.split('|')
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
}

/** No JSON, or JSON that two readers could understand differently: 400 `invalid-request`. */
export const UNREADABLE: readonly (readonly [what: string, body: string | Buffer])[] = [
  ['nothing', ''],
  ['white space', ' \n\t'],
  ['an object without end', '{'],
  ['a text without end', '{"account_id":"target'],
  ['a comma too many', `{${INSIDE},}`],
  ['single quotes', "{'account_id':'target@hostile'}"],
  ['a comment', `{${INSIDE}/* hello */}`],
  ['two values', `${TEXT}${TEXT}`],
  ['a byte order mark', `\ufeff${TEXT}`],
  ['a raw line feed in a text', `{${INSIDE},"metadata":{"a":"\n"}}`],
  ['NaN', `{${INSIDE},"metadata":{"a":NaN}}`],
  ['a duplicate key', `{${INSIDE},"amount":"1000000"}`],
  ['a duplicate key, written with an escape', `{${INSIDE},"\\u0061mount":"1000000"}`],
  ['a duplicate key, inside', `{${INSIDE},"metadata":{"a":"1","a":"2"}}`],
  ['a duplicate __proto__', `{${INSIDE},"__proto__":{"a":"1"},"__proto__":{"a":"2"}}`],
  ['33 levels', nested(33)],
  ['100,000 levels', nested(100_000)],
  ['100,000 open brackets', '['.repeat(100_000)],
  ['a NUL by its escape', `{${INSIDE},"metadata":{"a":"\\u0000"}}`],
  ['a NUL in a name', `{${INSIDE},"metadata":{"a\\u0000":"b"}}`],
  ['a NUL byte', withBytes(0)],
  ['a lone high surrogate', `{${INSIDE},"metadata":{"a":"\\ud800"}}`],
  ['a lone low surrogate', `{${INSIDE},"metadata":{"\\udc00":"b"}}`],
  ['surrogates the wrong way round', `{${INSIDE},"metadata":{"a":"\\udc00\\ud800"}}`],
  ['a stray continuation byte', withBytes(0x80)],
  ['an overlong slash', withBytes(0xc0, 0xaf)],
  ['a surrogate as UTF-8', withBytes(0xed, 0xa0, 0x80)],
  ['a character beyond Unicode', withBytes(0xf4, 0x90, 0x80, 0x80)],
  ['half a character', withBytes(0xe2, 0x82)],
  ['UTF-16', Buffer.from(TEXT, 'utf16le')],
]

function changed(changes: Readonly<Record<string, Value | undefined>>): string {
  const all = Object.entries({ ...WELL_FORMED, ...changes })
  return canonical(Object.fromEntries(all.filter((member): member is [string, Value] => member[1] !== undefined)))
}

/** JSON, but no submission: 400 `validation-error` with the code of the field. */
export const WRONG: readonly (readonly [what: string, body: string, code: string])[] = [
  ['a list', `[${TEXT}]`, 'ERR_INVALID_FIELD'],
  ['a text', '"credit"', 'ERR_INVALID_FIELD'],
  ['null', 'null', 'ERR_INVALID_FIELD'],
  ['an empty object', '{}', 'ERR_INVALID_ACCOUNT_ID'],
  ['no account', changed({ account_id: undefined }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an account that is a number', changed({ account_id: 7 }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an account that is a list', changed({ account_id: ['target@hostile'] }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an account that is an object', changed({ account_id: { $ne: '' } }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an account with a slash', changed({ account_id: 'a/b' }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an account that is a path', changed({ account_id: '..' }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an account that looks like another', changed({ account_id: 'tаrget@hostile' }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an account of 129 characters', changed({ account_id: 'a'.repeat(129) }), 'ERR_INVALID_ACCOUNT_ID'],
  ['an amount that is a number', changed({ amount: 1 }), 'ERR_INVALID_AMOUNT'],
  ['an amount that is true', changed({ amount: true }), 'ERR_INVALID_AMOUNT'],
  ...['', '0', '0.0', '-1', '+1', '01', '.5', '1.', '1e3', ' 1', '1 ', '1,5', '0x10', 'NaN', '١', '1'.repeat(19)].map(
    (amount) => [`the amount ${JSON.stringify(amount)}`, changed({ amount }), 'ERR_INVALID_AMOUNT'] as const,
  ),
  ['an amount with 19 decimals', changed({ amount: `0.${'1'.repeat(19)}` }), 'ERR_INVALID_AMOUNT'],
  ['no type', changed({ type: undefined }), 'ERR_INVALID_TYPE'],
  ['a type in capitals', changed({ type: 'CREDIT' }), 'ERR_INVALID_TYPE'],
  ['a type of every object', changed({ type: 'constructor' }), 'ERR_INVALID_TYPE'],
  ['a type that is null', changed({ type: null }), 'ERR_INVALID_TYPE'],
  ['no signature', changed({ signature: undefined }), 'ERR_INVALID_SIGNATURE'],
  ['an empty signature', changed({ signature: '' }), 'ERR_INVALID_SIGNATURE'],
  ['a signature that is an object', changed({ signature: { r: '1', s: '1' } }), 'ERR_INVALID_SIGNATURE'],
  ['no key', changed({ idempotency_key: undefined }), 'ERR_INVALID_IDEMPOTENCY_KEY'],
  ['an empty key', changed({ idempotency_key: '' }), 'ERR_INVALID_IDEMPOTENCY_KEY'],
  ['a key of 256 characters', changed({ idempotency_key: 'k'.repeat(256) }), 'ERR_INVALID_IDEMPOTENCY_KEY'],
  ['a key that is not ASCII', changed({ idempotency_key: 'schlüssel' }), 'ERR_INVALID_IDEMPOTENCY_KEY'],
  ['a key with a line feed', changed({ idempotency_key: 'a\nb' }), 'ERR_INVALID_IDEMPOTENCY_KEY'],
  ['a key that is a number', changed({ idempotency_key: 1 }), 'ERR_INVALID_IDEMPOTENCY_KEY'],
  ['a group that is no UUID', changed({ group_id: 'group' }), 'ERR_INVALID_GROUP_ID'],
  ['a token that is no symbol', changed({ token_id: "x'; DROP TABLE accounts; --" }), 'ERR_INVALID_TOKEN_ID'],
  ['a token that is null', changed({ token_id: null }), 'ERR_INVALID_TOKEN_ID'],
  ['metadata that is a list', changed({ metadata: ['a'] }), 'ERR_INVALID_FIELD'],
  ['metadata with a number', changed({ metadata: { a: 1 } }), 'ERR_INVALID_FIELD'],
  ['metadata in metadata', changed({ metadata: { a: { b: 'c' } } }), 'ERR_INVALID_FIELD'],
  ['metadata of 4,097 bytes', changed({ metadata: { a: 'x'.repeat(4_097 - 8) } }), 'ERR_INVALID_FIELD'],
  [
    '17 members of metadata',
    changed({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, number) => [`k${number}`, 'v'])) }),
    'ERR_INVALID_FIELD',
  ],
  ['an expiry that is no time', changed({ expires_at: 'tomorrow' }), 'ERR_INVALID_TIMESTAMP'],
  ['a misspelt field', changed({ amonut: '1' }), 'ERR_UNKNOWN_FIELD'],
  ['a field named __proto__', `{${INSIDE},"__proto__":{"type":"debit"}}`, 'ERR_UNKNOWN_FIELD'],
  ['a field named constructor', `{${INSIDE},"constructor":{"prototype":{}}}`, 'ERR_UNKNOWN_FIELD'],
  ['a mint without a token', changed({ type: 'mint' }), 'ERR_INVALID_TOKEN_ID'],
]
