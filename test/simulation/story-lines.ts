/** A line of a story, and which of many are shown. */
import type { Violation } from './violations.ts'

/** `fault`: also what mends it; `owner`: whose a shard is. */
export type StoryKind = 'client' | 'message' | 'commit' | 'owner' | 'fault' | 'log'

export interface StoryLine {
  readonly atMs: number
  readonly kind: StoryKind
  readonly text: string
}

/** A story of so many lines is shown from its last calm moment on. */
const SHOWN_LINES = 150
/** The end is shown in full. */
const LAST_LINES = 40
/** So long nothing happens in a calm moment. */
const CALM_MS = 500

/**
 * The lines to show: from the last calm moment, if that is not too much; else those that touch what the first violation
 * names, commits before others, then what went wrong and whose the shards were, the latest first, and the end in full. What is left out is said.
 */
export function shownLines(lines: readonly StoryLine[], violations: readonly Violation[]): readonly string[] {
  const end = Math.max(0, lines.length - LAST_LINES)
  const shown = new Set(Array.from({ length: lines.length - end }, (_, index) => end + index))
  const calm = lastCalm(lines, end)
  if (lines.length - calm <= SHOWN_LINES) add(shown, lines, calm, () => true)
  const named = namedIn(violations, lines.slice(end))
  const touches = ({ text }: StoryLine): boolean => named.some((name) => mentions(text, name))
  add(shown, lines, 0, (line) => line.kind === 'commit' && touches(line))
  add(shown, lines, 0, touches)
  add(shown, lines, calm, ({ kind }) => kind === 'fault' || kind === 'owner')
  return withGaps(lines, shown)
}

export function lineText({ atMs, text }: StoryLine): string {
  return `${(atMs / 1000).toFixed(3).padStart(8)} s  ${shortNames(text)}`
}

/** IDs by the end or beginning that tells them apart. */
function shortNames(text: string): string {
  return text
    .replaceAll(/\b(txn|cls)_[0-9A-Z]{20}([0-9A-Z]{6})\b/g, '$1_…$2')
    .replaceAll(/\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '$1…')
}

/** Where the story begins anew after a silence, before `end`. */
function lastCalm(lines: readonly StoryLine[], end: number): number {
  for (let index = end; index > 0; index -= 1) {
    if ((lines[index]?.atMs ?? 0) - (lines[index - 1]?.atMs ?? 0) >= CALM_MS) return index
  }
  return 0
}

/** The latest first, until there are enough. */
function add(
  shown: Set<number>,
  lines: readonly StoryLine[],
  from: number,
  isWanted: (line: StoryLine) => boolean,
): void {
  for (let index = lines.length - 1; index >= from && shown.size < SHOWN_LINES; index -= 1) {
    const line = lines[index]
    if (line !== undefined && isWanted(line)) shown.add(index)
  }
}

const NAMES =
  /\baccount-\d+\b|\btxn_\w{26}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bcls_\w+\/[\w-]+|\bkey \d+\b|\bshard \d+\b/g

/** What the first violation is about, or the end where it says nothing; a shard only where nothing smaller is named. */
function namedIn(violations: readonly Violation[], last: readonly StoryLine[]): readonly string[] {
  const named = violations.slice(0, 1).flatMap(({ text }) => text.match(NAMES) ?? [])
  const all = new Set(named.length > 0 ? named : last.flatMap(({ text }) => text.match(NAMES) ?? []))
  const smaller = [...all].filter((name) => !name.startsWith('shard '))
  return smaller.length > 0 ? smaller : [...all]
}

/** `account-1` is not in `account-12`. */
function mentions(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/\w/.test(text[at + name.length] ?? ' ')) return true
  }
  return false
}

/** A gap of less than this is not worth the line that tells of it. */
const SMALLEST_GAP = 3

function withGaps(lines: readonly StoryLine[], shown: ReadonlySet<number>): readonly string[] {
  const texts: string[] = []
  let gap: StoryLine[] = []
  lines.forEach((line, index) => {
    if (!shown.has(index)) {
      gap.push(line)
      return
    }
    if (gap.length >= SMALLEST_GAP) texts.push(`            … ${gap.length} lines left out`)
    else texts.push(...gap.map(lineText))
    gap = []
    texts.push(lineText(line))
  })
  return texts
}
