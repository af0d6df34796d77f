/**
 * The format of messages between edges and nodes, and of messages between shards in the outbox.
 *   F1. Each body and each envelope names the version of its format. A part writes one version and reads one or more.
 *   F2. A reply has the version of its request, which the requester reads.
 *   F3. A body of a version that its receiver does not read has no effect; the reply is `UNSUPPORTED_VERSION`.
 *   F4. A malformed member of a list fails alone. Every accepted member has the shape of its type.
 *   F5. Every version of an envelope has `to`, `message` with a `type`, and `carries`: the source's owner sends it, and
 *       auditors count it, in any version.
 * To introduce a version: a release adds version N + 1 to those that it reads and still writes N; the next release
 * writes N + 1. So adjacent releases run side by side, and each can replace the other.
 */
import { isActorAddress } from '../../actors/address.ts'
import { type Envelope, isMessageType } from '../../actors/message.ts'
import {
  type AttemptName,
  type ChannelName,
  isAttemptName,
  isChannelName,
  isDelivery,
  isDeliveryAnswer,
  isItem,
  isItemVerdict,
  type Delivery,
  type DeliveryAnswer,
  type Item,
  type ItemVerdict,
} from './messages.ts'
import type { WrittenEnvelope } from '../ports/ledger-store.ts'
import { type Guard, isCount, isListOf, isObjectOf, isRecord, isText } from '../../actors/shapes.ts'

export interface Wire {
  /** The version of every message that the part writes. */
  readonly writes: number
  /** Includes `writes`. */
  readonly reads: readonly number[]
  readonly writeEnvelope: (envelope: Envelope) => WrittenEnvelope
  /** undefined: this release does not read its version, or the type of its message. */
  readonly readEnvelope: (written: WrittenEnvelope) => Envelope | undefined
}

const VERSION = 1

/** The versions that this release writes and reads. */
export const WIRE: Wire = {
  writes: VERSION,
  reads: [VERSION],
  writeEnvelope: ({ to, message, carries }) => ({ version: VERSION, to, message, carries }),
  readEnvelope: (written) => (written.version === VERSION && isEnvelope(written) ? written : undefined),
}

/** The reply to every body of an unknown version; the same in every version. */
export const UNSUPPORTED_VERSION = '{"unsupported_version":true}'

/** The body of one NATS message. */
export interface Frame {
  readonly version: number
  readonly body: unknown
}

export function encodeFrame(version: number, body: unknown): string {
  return JSON.stringify({ version, body })
}

/** undefined: unsupported version (F3). */
export function decodeFrame(text: string, { reads }: Pick<Wire, 'reads'>): Frame | undefined {
  const frame = parsed(text)
  return isRecord<Frame>(frame) && reads.includes(frame.version) ? frame : undefined
}

/** undefined: not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A body that is a list. */
export interface ListForm<Member, Name> {
  readonly isMember: Guard<Member>
  /** Guards the members that a reply to a malformed member needs. */
  readonly isName: Guard<Name>
}

export interface List<Member, Name> {
  readonly version: number
  readonly members: readonly Member[]
  /** Malformed members with a name (F4). */
  readonly malformed: readonly Name[]
}

export const ITEMS: ListForm<Item, AttemptName> = { isMember: isItem, isName: isAttemptName }
export const VERDICTS: ListForm<ItemVerdict, AttemptName> = { isMember: isItemVerdict, isName: isAttemptName }
export const DELIVERIES: ListForm<Delivery, ChannelName> = { isMember: isDelivery, isName: isChannelName }
export const DELIVERY_ANSWERS: ListForm<DeliveryAnswer, ChannelName> = {
  isMember: isDeliveryAnswer,
  isName: isChannelName,
}

/** undefined: unsupported version, or not a list (F3). */
export function decodeList<Member, Name>(
  text: string,
  { isMember, isName }: ListForm<Member, Name>,
  wire: Pick<Wire, 'reads'>,
): List<Member, Name> | undefined {
  const frame = decodeFrame(text, wire)
  if (frame === undefined || !Array.isArray(frame.body)) return undefined
  const members: Member[] = []
  const malformed: Name[] = []
  for (const value of frame.body as readonly unknown[]) {
    if (isMember(value)) members.push(value)
    else if (isName(value)) malformed.push(value)
  }
  return { version: frame.version, members, malformed }
}

/**
 * Uses few messages. A verdict that is too large alone, or that cannot be encoded, becomes `undecided`: its client
 * retries, and the other verdicts arrive.
 */
export function encodeVerdicts(
  verdicts: readonly ItemVerdict[],
  version: number,
  maxBytes: number,
  onUnwritable: (verdict: ItemVerdict, error: unknown) => void,
): readonly string[] {
  const messages: string[][] = []
  let left = 0
  for (const verdict of verdicts) {
    const whole = written(verdict, onUnwritable)
    const fits = whole !== undefined && boundOfBytes(whole) <= maxBytes
    const { requestId, attempt } = verdict
    const text = fits ? whole : JSON.stringify({ requestId, attempt, verdict: { kind: 'undecided' } })
    if (boundOfBytes(text) > left) {
      messages.push([])
      left = maxBytes
    }
    messages.at(-1)?.push(text)
    left -= boundOfBytes(text)
  }
  return messages.map((texts) => `{"version":${version},"body":[${texts.join(',')}]}`)
}

function written(
  verdict: ItemVerdict,
  onUnwritable: (verdict: ItemVerdict, error: unknown) => void,
): string | undefined {
  try {
    return JSON.stringify(verdict)
  } catch (error) {
    onUnwritable(verdict, error)
    return undefined
  }
}

/** A UTF-16 unit is three bytes of UTF-8 at most; a comma is one. */
function boundOfBytes(text: string): number {
  return 3 * text.length + 1
}

const MAX_TYPE = 64

/** The loggable fields of an envelope that this part does not read. */
export function unreadCause(written: WrittenEnvelope): string {
  const { version, message }: { readonly version?: unknown; readonly message: unknown } = written
  const type = isRecord(message) ? message['type'] : undefined
  return `unsupported version ${isCount(version) ? version : '?'} or type ${isText(type) ? type.slice(0, MAX_TYPE) : '?'}`
}

const areCarried = isListOf(isObjectOf({ tokenId: isText, quantity: isText }))

function isEnvelope({ to, message, carries }: WrittenEnvelope): boolean {
  if (!isActorAddress(to) || !areCarried(carries)) return false
  return isRecord(message) && isMessageType(to.kind, message.type)
}
