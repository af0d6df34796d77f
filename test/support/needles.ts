/** Looks for texts and numbers in bytes, in whatever of the usual forms they may be written. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Texts to search for, by kind. */
export type Needles = Readonly<Record<string, string>>

/** Names of the needles that are in the bytes: as UTF-8, in hexadecimal digits, in base64, or as PostgreSQL's `numeric`. */
export function found(needles: Needles, bytes: Buffer): string[] {
  return Object.entries(needles)
    .filter(([, needle]) => formsOf(needle).some((form) => bytes.includes(form)))
    .map(([name]) => name)
}

/** Of every file below the directory, those that vanish meanwhile left out. */
export function foundBelow(needles: Needles, directory: string): Map<string, readonly string[]> {
  const hits = new Map<string, readonly string[]>()
  for (const path of filesBelow(directory)) {
    let bytes: Buffer
    try {
      bytes = readFileSync(path)
    } catch {
      continue
    }
    const names = found(needles, bytes)
    if (names.length > 0) hits.set(path, names)
  }
  return hits
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() && statSync(path).size > 0 ? [path] : []
  })
}

function formsOf(needle: string): Buffer[] {
  const text = Buffer.from(needle, 'utf8')
  const hex = text.toString('hex')
  const forms = [text, Buffer.from(hex), Buffer.from(hex.toUpperCase()), ...inBase64(text)]
  const digits = numericDigits(needle)
  return digits === undefined ? forms : [...forms, digits]
}

/** Where it begins at each of the three places of a group; what its neighbors decide is left out. */
function inBase64(text: Buffer): Buffer[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), text]).toString('base64')
    const from = before === 0 ? 0 : before + 1
    return Buffer.from(encoded.slice(from, Math.floor(((before + text.length) * 8) / 6)))
  })
}

/** A decimal as PostgreSQL keeps it: groups of four digits from the point on, 16 bits each. */
function numericDigits(needle: string): Buffer | undefined {
  const match = /^(\d+)\.(\d+)$/.exec(needle)
  if (match === null) return undefined
  const [whole, fraction] = [match[1] ?? '', match[2] ?? '']
  const padded =
    whole.padStart(Math.ceil(whole.length / 4) * 4, '0') + fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0')
  const groups = padded.match(/\d{4}/g) ?? []
  const bytes = Buffer.alloc(2 * groups.length)
  groups.forEach((group, index) => bytes.writeUInt16LE(Number(group), 2 * index))
  return bytes
}
