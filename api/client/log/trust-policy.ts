/**
 * Policies of C2SP: they name the keys whose signatures make a head of a log trustworthy. https://c2sp.org/tlog-policy
 *   P1. A head needs the signature of one of the logs, and of witnesses that meet the quorum.
 *   P2. A file with an unknown line, or with a name that is not defined before it is used, is refused.
 */
import {
  type NoteKey,
  type NoteKeyKind,
  parseVerifierKey,
  type SignedNote,
  unknownAlgorithm,
  verifySignatures,
} from './signed-note.ts'
import { type LogHead, parseCheckpoint } from './checkpoint.ts'
import { hex } from '../signing/bytes.ts'
import { type Invalid, tampered } from '../verify/verdict.ts'

export interface PolicyKey {
  readonly key: NoteKey
  readonly url: string | undefined
}

interface Group {
  readonly threshold: number
  readonly members: readonly string[]
}

export interface TrustPolicy {
  readonly logs: readonly PolicyKey[]
  /** By the names in the file. */
  readonly witnesses: ReadonlyMap<string, PolicyKey>
  readonly groups: ReadonlyMap<string, Group>
  /** A witness, a group, or `none`. */
  readonly quorum: string
}

/** The policy file is malformed; the message names the line. */
export class PolicyMalformed extends Error {
  override readonly name = 'PolicyMalformed'
}

export interface TrustedHead extends LogHead {
  /** Names of the witnesses in the policy whose signatures verify. */
  readonly witnesses: readonly string[]
  /** The earliest time at which the quorum may have been met: milliseconds since 1970; undefined without witnesses. */
  readonly witnessedAtMs: number | undefined
}

const NONE = 'none'
const COUNT = /^[1-9][0-9]{0,3}$/

/** Throws PolicyMalformed (P2). */
export async function parsePolicy(text: string): Promise<TrustPolicy> {
  const reader = new PolicyReader()
  for (const [index, line] of text.split('\n').entries()) {
    const words = line.split(/[ \t]+/).filter((word) => word !== '')
    if (words.length === 0 || words[0]?.startsWith('#') === true) continue
    const problem = await reader.take(words)
    if (problem !== undefined) throw new PolicyMalformed(`line ${index + 1}: ${problem}`)
  }
  return reader.policy()
}

class PolicyReader {
  private readonly logs: PolicyKey[] = []
  private readonly witnesses = new Map<string, PolicyKey>()
  private readonly groups = new Map<string, Group>()
  private readonly members = new Set<string>()
  private quorum: string | undefined

  policy(): TrustPolicy {
    const { logs, witnesses, groups, quorum } = this
    if (quorum === undefined) {
      throw new PolicyMalformed(
        'the line "quorum <name>" of a witness or group is missing ("quorum none": no witness must sign)',
      )
    }
    return { logs, witnesses, groups, quorum }
  }

  /** A problem, or undefined. */
  async take([kind, ...words]: readonly string[]): Promise<string | undefined> {
    switch (kind) {
      case 'log':
        return this.takeLog(words)
      case 'witness':
        return this.takeWitness(words)
      case 'group':
        return this.takeGroup(words)
      case 'quorum':
        return this.takeQuorum(words)
      default:
        return 'it begins with none of log, witness, group and quorum'
    }
  }

  private async takeLog([vkey = '', url, ...others]: readonly string[]): Promise<string | undefined> {
    if (others.length > 0) return 'a log has a key and a URL'
    const key = await keyOf(vkey, 'log')
    if (typeof key === 'string') return key
    if (isKnown(this.logs, key)) return 'the key occurs twice'
    this.logs.push({ key, url })
    return undefined
  }

  private async takeWitness([name = '', vkey = '', url, ...others]: readonly string[]): Promise<string | undefined> {
    if (others.length > 0) return 'a witness has a name, a key and a URL'
    const key = await keyOf(vkey, 'witness')
    if (typeof key === 'string') return key
    if (isKnown([...this.witnesses.values()], key)) return 'the key occurs twice'
    const problem = this.problemOfName(name)
    if (problem !== undefined) return problem
    this.witnesses.set(name, { key, url })
    return undefined
  }

  private takeGroup([name = '', count = '', ...members]: readonly string[]): string | undefined {
    const problem = this.problemOfName(name)
    if (problem !== undefined) return problem
    const unknown = members.find((member) => member === NONE || !this.isDefined(member))
    if (unknown !== undefined) return `${unknown} is not defined above`
    if (new Set(members).size !== members.length) return 'a member occurs twice'
    const twice = members.find((member) => this.members.has(member))
    if (twice !== undefined) return `${twice} is a member of another group`
    const threshold = count === 'any' ? 1 : count === 'all' ? members.length : COUNT.test(count) ? Number(count) : 0
    if (members.length === 0 || threshold < 1 || threshold > members.length) {
      return `a group needs any, all, or a number from 1 to the ${members.length} of its members`
    }
    for (const member of members) this.members.add(member)
    this.groups.set(name, { threshold, members })
    return undefined
  }

  private takeQuorum([name = '', ...others]: readonly string[]): string | undefined {
    if (this.quorum !== undefined) return 'there is a quorum above'
    if (others.length > 0 || !this.isDefined(name)) return `${name} is not defined above`
    this.quorum = name
    return undefined
  }

  private problemOfName(name: string): string | undefined {
    if (name === '') return 'the name is missing'
    return this.isDefined(name) ? `the name ${name} occurs twice` : undefined
  }

  private isDefined(name: string): boolean {
    return name === NONE || this.witnesses.has(name) || this.groups.has(name)
  }
}

async function keyOf(vkey: string, kind: NoteKeyKind): Promise<NoteKey | string> {
  const algorithm = unknownAlgorithm(vkey)
  if (algorithm !== undefined) return `the key has the algorithm ${algorithm}, and only Ed25519 is supported`
  const key = await parseVerifierKey(vkey)
  if (key === undefined) return 'the key is malformed'
  return key.kind === kind ? key : `the key is not one of a ${kind}`
}

function isKnown(known: readonly PolicyKey[], { publicKey }: NoteKey): boolean {
  return known.some(({ key }) => hex(key.publicKey) === hex(publicKey))
}

/** Whether these witnesses of the policy meet its quorum. */
export function meetsQuorum({ groups, quorum }: TrustPolicy, witnesses: ReadonlySet<string>): boolean {
  const isMet = (name: string): boolean => {
    const group = groups.get(name)
    if (group === undefined) return name === NONE || witnesses.has(name)
    return group.members.filter(isMet).length >= group.threshold
  }
  return isMet(quorum)
}

/** The head in a note that the policy trusts (P1); otherwise the problem. Rejects with Ed25519Missing. */
export async function trustedHead(note: SignedNote, policy: TrustPolicy): Promise<TrustedHead | Invalid> {
  const head = parseCheckpoint(note.text)
  if (head === undefined) return tampered('the head of the log is malformed')
  const logs = policy.logs.map(({ key }) => key).filter(({ name }) => name === head.origin)
  if (logs.length === 0) {
    return { ok: false, reason: 'wrong_keys', problem: `the policy does not name the log ${head.origin}` }
  }
  const byLog = await verifySignatures(note, logs)
  if (byLog === undefined || byLog.length === 0) return tampered('the head of the log is not signed by its key')
  const names = new Map([...policy.witnesses].map(([name, { key }]) => [key, name]))
  const byWitnesses = await verifySignatures(note, [...names.keys()])
  if (byWitnesses === undefined) return tampered('a signature of a witness does not verify')
  const times = new Map(byWitnesses.map(({ key, atMs }) => [names.get(key) ?? '', atMs ?? 0]))
  if (!meetsQuorum(policy, new Set(times.keys()))) {
    const signed = times.size === 0 ? 'none' : [...times.keys()].join(', ')
    const problem = `too few witnesses of the policy signed the head of the log: ${signed}`
    return { ok: false, reason: 'incomplete', problem }
  }
  const witnessedAtMs = times.size === 0 ? undefined : Math.min(...times.values())
  return { ...head, witnesses: [...times.keys()], witnessedAtMs }
}
