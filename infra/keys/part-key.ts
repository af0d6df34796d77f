/**
 * A part key is the text form of the wrapping keys of one part, so that the part runs without the master key. It has one line
 * for each master key, the current one first:
 *   lpk1.PART.MASTER-KEY-ID.KEYS    (`lpk1`: version; KEYS: base64url of a JSON object of base64url keys)
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { decodeBase64 } from './base64.ts'
import { KeyUnusable, MAX_MASTER_KEYS } from './master-key.ts'
import {
  type KeyRing,
  type Part,
  PARTS,
  ringOfPart,
  USES_OF_PART,
  WRAPPING_KEY_BYTES,
  type WrappingKeys,
  type WrappingUse,
} from './wrapping-keys.ts'

export interface PartKey {
  readonly part: Part
  readonly ring: KeyRing
}

const VERSION = 'lpk1'
const LINE = /^lpk1\.(?<part>[a-z]+)\.(?<id>[0-9a-f]{16})\.(?<keys>[A-Za-z0-9_-]{1,4096})$/
const keysSchema = v.record(v.string(), v.string())

/** `ring`: has at least the keys of the part. */
export function partKeyText(ring: KeyRing, part: Part): string {
  const { current, previous } = ringOfPart(ring, part)
  return [current, ...previous].map((held) => `${lineOf(held, part)}\n`).join('')
}

function lineOf({ masterKeyId, keys }: WrappingKeys, part: Part): string {
  const texts = Object.entries(keys).map(([use, key]) => [use, key.export().toString('base64url')])
  const json = JSON.stringify(Object.fromEntries(texts))
  return [VERSION, part, masterKeyId, Buffer.from(json, 'utf8').toString('base64url')].join('.')
}

/** Throws KeyUnusable, without quoting the text. */
export function readPartKey(text: string): PartKey {
  const lines = text.split(/[\s,]+/).filter((line) => line !== '')
  const [first, ...others] = lines.map(readLine)
  if (first === undefined || lines.length > MAX_MASTER_KEYS) {
    throw new KeyUnusable(`A part key has 1 to ${MAX_MASTER_KEYS} lines.`)
  }
  if (others.some(({ part }) => part !== first.part)) {
    throw new KeyUnusable('The lines of a part key must be of one part.')
  }
  return { part: first.part, ring: { current: first.held, previous: others.map(({ held }) => held) } }
}

/** Throws KeyUnusable. */
export async function loadPartKey(path: string): Promise<PartKey> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new KeyUnusable(`The part key file ${path} cannot be read.`, { cause })
  }
  return readPartKey(text)
}

function readLine(line: string): { readonly part: Part; readonly held: WrappingKeys } {
  const { part: name = '', id = '', keys = '' } = LINE.exec(line)?.groups ?? {}
  const part = PARTS.find((known) => known === name)
  if (part === undefined) throw new KeyUnusable('This is not a part key: create one with ledger keys part-key.')
  return { part, held: { masterKeyId: id, keys: readKeys(keys, part) } }
}

/** Throws KeyUnusable if a key of the part is missing, as in a part key of an earlier release. */
function readKeys(encoded: string, part: Part): WrappingKeys['keys'] {
  const texts = jsonOf(encoded)
  const keys: Partial<Record<WrappingUse, KeyObject>> = {}
  for (const use of USES_OF_PART[part]) {
    const bytes = decodeBase64(texts[use] ?? '')
    if (bytes?.length !== WRAPPING_KEY_BYTES) {
      throw new KeyUnusable(
        `The part key has no key for ${use}: it is damaged or from another version. Create a new one with ledger keys part-key.`,
      )
    }
    keys[use] = createSecretKey(bytes)
    bytes.fill(0)
  }
  return keys
}

/** Empty if the text is damaged: then every key is missing. */
function jsonOf(encoded: string): Readonly<Record<string, string>> {
  try {
    const read = v.safeParse(keysSchema, JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')))
    return read.success ? read.output : {}
  } catch {
    return {}
  }
}
