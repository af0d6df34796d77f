/**
 * Compares an example of the document with a running ledger's reply. They are equal, except for values that the ledger
 * generates: IDs, hashes, signatures, tokens, and times.
 *   X1. A generated value has the form of the example's value and is bound to it: wherever the example's value occurs again,
 *       in a request or a reply, the same generated value is used.
 *   X2. No two values of the examples are bound to one value of the ledger.
 *   X3. Everything else is equal, including the presence of members.
 */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'

/** Lists that are ordered by generated values, and the member that identifies their items. */
const OWN_ORDER: ReadonlyMap<string, string> = new Map([['keys', 'purpose']])

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}'
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** The forms of refresh tokens, access tokens, and secrets of webhooks and clients. */
const TOKENS = [
  /^whsec_[A-Za-z0-9+/]{43}=$/,
  /^lsk_[A-Za-z0-9_-]{43}$/,
  /^rt_[A-Za-z0-9_-]{43}\.[A-Za-z0-9_-]+$/,
  /^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/,
] as const
/** The forms of generated values. */
const MADE = [
  ...TOKENS,
  new RegExp(`^(txn|att|cls|whk|hld)_${ULID}$`),
  /^evt_[0-9a-f]{32}$/,
  /^sha256:[0-9a-f]{64}$/,
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^[0-9a-f]{32}$/,
  /^[0-9a-f]{64}$/,
  /^[A-Za-z0-9_-]{43}$/,
  /^[A-Za-z0-9+/]{43}=$/,
  /^[A-Za-z0-9+/]{86,96}={0,2}$/,
  /^node-[A-Za-z0-9-]+$/,
  /^evt_[0-9a-f]{32}$/,
  /^urn:ledger:[0-9a-f-]{36}$/,
] as const
/** The length of a page token, or of a cursor, depends on its position. */
const TOKEN_MEMBERS = new Set(['next_page_token', 'next_cursor'])
/** Members that differ in every response; the examples show one value. */
const PER_REQUEST = new Set(['request_id'])
/** Names of members whose numbers differ between ledgers. */
const OWN_NUMBERS = new Set(['shard_id', 'epoch', 'txn_count', 'nbf', 'latency_ms'])
/** Members below these are random: the shares of a balance, and their leaves. */
const BY_CHANCE = /\.shares\[/
/** Two days. */
const EXPIRY_MS = 172_800_000
const QUANTITY = /^[0-9]+(\.[0-9]+)?$/

export class Bindings {
  private readonly made = new Map<string, string>()

  /** Replaces the generated values of the examples by those of the ledger. */
  apply<T extends Json>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) {
      const items: Json = (value as readonly Json[]).map((item) => this.apply(item))
      return items as T
    }
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.apply(member)])) as T
  }

  /** A value made by the ledger may be part of the text: addresses contain IDs. */
  text(value: string): string {
    let text = value
    for (const [example, actual] of this.made) text = text.replaceAll(example, actual)
    return text
  }

  /** Binds a time of a request, which the ledger accepts only while it is ahead. */
  bindExpiry(example: string): void {
    if (!TIMESTAMP.test(example) || this.made.has(example)) return
    this.made.set(example, new Date(Date.now() + EXPIRY_MS).toISOString())
  }

  /** The text with the examples' tokens in place of those that this ledger issued. */
  withoutTokens(text: string): string {
    const tokens = [...this.made].filter(([example]) => TOKENS.some((form) => form.test(example)))
    return tokens.reduce((changed, [example, actual]) => changed.replaceAll(actual, example), text)
  }

  /** Differences, as `legs[0].amount: …`; binds values made by the ledger (X1). */
  differences(example: Json, actual: Json, at = ''): readonly string[] {
    if (typeof example === 'string' && typeof actual === 'string') return this.textDifferences(example, actual, at)
    if (Array.isArray(example) && Array.isArray(actual)) {
      return this.arrayDifferences(example as readonly Json[], actual as readonly Json[], at)
    }
    if (isObject(example) && isObject(actual)) return this.memberDifferences(example, actual, at)
    const isFree = OWN_NUMBERS.has(lastName(at)) || BY_CHANCE.test(at)
    const isOwn = isFree && typeof example === 'number' && typeof actual === 'number'
    return example === actual || isOwn ? [] : [difference(at, example, actual)]
  }

  private arrayDifferences(example: readonly Json[], actual: readonly Json[], at: string): readonly string[] {
    if (example.length !== actual.length && !BY_CHANCE.test(at)) {
      return [difference(at, example.length, actual.length)]
    }
    const found = ordered(actual, lastName(at)).slice(0, example.length)
    const items = ordered(example, lastName(at)).slice(0, found.length)
    return items.flatMap((item, index) => this.differences(item, found[index] ?? null, `${at}[${index}]`))
  }

  private memberDifferences(example: JsonObject, actual: JsonObject, at: string): readonly string[] {
    const names = [...new Set([...Object.keys(example), ...Object.keys(actual)])]
    return names.flatMap((name) => {
      const [one, other] = [example[name], actual[name]]
      const place = at === '' ? name : `${at}.${name}`
      if (one === undefined) return [`${place}: not in the example: ${JSON.stringify(other)}`]
      return other === undefined ? [`${place}: only in the example`] : this.differences(one, other, place)
    })
  }

  private textDifferences(example: string, actual: string, at: string): readonly string[] {
    if (this.text(example) === actual || PER_REQUEST.has(lastName(at))) return []
    if (TIMESTAMP.test(example) && TIMESTAMP.test(actual)) {
      // Resources with equal times in the examples may differ here: a request may name the first time.
      if (!this.made.has(example)) this.made.set(example, actual)
      return []
    }
    const [one, other] = [parsed(example), parsed(actual)]
    if (one !== undefined && other !== undefined) return this.differences(one, other, at)
    const form = MADE.find((one) => one.test(example))
    if (BY_CHANCE.test(at) && [form, QUANTITY].some((one) => one?.test(example) === true && one.test(actual))) return []
    const isMade = form?.test(actual) === true || TOKEN_MEMBERS.has(lastName(at))
    const isFree = !this.made.has(example) && ![...this.made.values()].includes(actual)
    if (!isMade || !isFree || example === '' || actual === '') return [difference(at, this.text(example), actual)]
    this.made.set(example, actual)
    return []
  }
}

function ordered(items: readonly Json[], name: string): readonly Json[] {
  const member = OWN_ORDER.get(name)
  if (member === undefined) return items
  const keyOf = (item: Json): string => String((item as JsonObject)[member])
  return items.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

function difference(at: string, example: Json, actual: Json): string {
  return `${at}: ${JSON.stringify(actual)} where the example has ${JSON.stringify(example)}`
}

/** The last name of a path: `amount` of `legs[0].amount`. */
function lastName(at: string): string {
  return (at.split('.').at(-1) ?? '').replace(/\[\d+\]$/, '')
}

/** A text that contains a JSON object, as a payload of an audit chain. */
function parsed(text: string): JsonObject | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return undefined
  }
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
