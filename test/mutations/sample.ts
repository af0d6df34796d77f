/**
 * The fixed sample: mutations by the text that they change, so that it stays the same while lines move. A mutation whose
 * text is no longer found is stale: complete the sample then.
 */
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPERATORS, type Operator, type Site, sitesIn } from './sites.ts'

export interface Mutation {
  readonly file: string
  readonly operator: Operator | 'hand'
  /** The whole lines that it changes, as they are, and as they are after it. */
  readonly from: string
  readonly to: string
  /** Which one of these lines in the file, from 0. */
  readonly nth: number
  /** The recorded test file, `types` or `simulation` that noticed it; null: nothing did. */
  readonly noticedBy?: string | null
}

/** The number of mutations of each folder, by its importance. */
const QUOTAS: Readonly<Record<string, number>> = { actors: 110, runtime: 110, api: 90, infra: 110 }
/** Sources of texts: documentation of the interface, help and examples. */
const LEFT_OUT = [/^api\/openapi\//, /^api\/docs/, /^infra\/cli\/help/, /^infra\/config\/example/]
/** The maximum number of mutations of one file. */
const PER_FILE = 5

export const SAMPLE = 'test/mutations/sample.ndjson'

export function readSample(root: string): readonly Mutation[] {
  const lines = readFileSync(join(root, SAMPLE), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Mutation)
}

export function writeSample(root: string, sample: readonly Mutation[]): void {
  writeFileSync(join(root, SAMPLE), sample.map((one) => `${JSON.stringify(one)}\n`).join(''))
}

/** The offset of the lines in the text; undefined where they are not there. */
export function placeOf({ from, nth }: Mutation, text: string): number | undefined {
  let place = -1
  for (let found = 0; found <= nth; found += 1) {
    place = text.indexOf(`\n${from}\n`, place + 1)
    if (place === -1) return undefined
  }
  return place + 1
}

export function mutated(mutation: Mutation, text: string): string | undefined {
  const place = placeOf(mutation, text)
  if (place === undefined) return undefined
  return text.slice(0, place) + mutation.to + text.slice(place + mutation.from.length)
}

export function sourcesOf(root: string): readonly string[] {
  return Object.keys(QUOTAS).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => `${folder}/${path}`)
      .filter((file) => !LEFT_OUT.some((pattern) => pattern.test(file)))
      .toSorted(),
  )
}

/** Keeps what still applies and draws the rest, always the same ones from the same sources. Returns how many are new. */
export function completeSample(root: string): number {
  const texts = new Map(sourcesOf(root).map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const kept = readSampleOrNone(root).filter((one) => placeOf(one, texts.get(one.file) ?? '') !== undefined)
  const sample = [...kept]
  for (const [folder, quota] of Object.entries(QUOTAS)) {
    const candidates = [...texts]
      .filter(([file]) => file.startsWith(`${folder}/`))
      .flatMap(([file, text]) => sitesIn(text).map((site) => mutationAt(file, text, site)))
      .toSorted((one, other) => (drawOf(one) < drawOf(other) ? -1 : 1))
    sample.push(...drawn(candidates, sample, folder, quota))
  }
  writeSample(root, sample)
  return sample.length - kept.length
}

/** As many as are missing, the operators in turn, so that rare ones are there, too; of arguments the types notice most. */
function drawn(
  candidates: readonly Mutation[],
  sample: readonly Mutation[],
  folder: string,
  quota: number,
): Mutation[] {
  const perFile = new Map<string, number>()
  const before = sample.filter(({ file }) => file.startsWith(`${folder}/`))
  for (const { file } of before) perFile.set(file, (perFile.get(file) ?? 0) + 1)
  const queues = OPERATORS.map((operator) => candidates.filter((one) => one.operator === operator))
  const found: Mutation[] = []
  for (let round = 0; before.length + found.length < quota && queues.some((queue) => queue.length > 0); round += 1) {
    for (const [index, queue] of queues.entries()) {
      if (OPERATORS[index] === 'arguments' && round % 3 > 0) continue
      const next = queue.shift()
      if (next === undefined || before.length + found.length >= quota) continue
      const ofFile = perFile.get(next.file) ?? 0
      const isKnown = [...sample, ...found].some(({ file, to }) => file === next.file && to === next.to)
      if (ofFile >= PER_FILE || isKnown) continue
      perFile.set(next.file, ofFile + 1)
      found.push(next)
    }
  }
  return found
}

function readSampleOrNone(root: string): readonly Mutation[] {
  try {
    return readSample(root)
  } catch {
    return []
  }
}

function mutationAt(file: string, text: string, { operator, start, end, replacement }: Site): Mutation {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = text.indexOf('\n', end)
  const from = text.slice(lineStart, lineEnd)
  const to = text.slice(lineStart, start) + replacement + text.slice(end, lineEnd)
  let nth = 0
  for (let at = text.indexOf(`\n${from}\n`); at !== -1 && at + 1 < lineStart; nth += 1) {
    at = text.indexOf(`\n${from}\n`, at + 1)
  }
  return { file, operator, from, to, nth }
}

function drawOf({ file, from, to, nth }: Mutation): string {
  return hash('sha256', `${file} ${from} ${to} ${nth}`)
}
