/** Imports in memory, as PostgreSQL keeps them. Every call may be stopped, or watched, before it takes effect. */
import type { ImportHead, Present } from '../../../infra/portability/import-documents.ts'
import { type ImportStore, MAX_STAGED, type NewPart } from '../../../infra/portability/import-store.ts'

const UNFINISHED: ReadonlySet<string> = new Set(['checking', 'applying', 'taking', 'refusing'])
const TAKEN: ReadonlySet<string> = new Set(['taking', 'done'])

interface StoredPart {
  readonly content: string
  readonly staged: NewPart['staged'] | null
  readonly present: Present | null
}

interface StoredImport {
  head: ImportHead
  settled: boolean
  updatedAtMs: number
  drivenAtMs: number
  readonly parts: Map<number, StoredPart>
}

export interface MemoryImportStore extends ImportStore {
  readonly imports: Map<string, StoredImport>
  /** Every status that an import has had, in order. */
  readonly history: string[]
}

export function createMemoryImportStore(options: {
  readonly nowMs: () => number
  /** Before each call: may throw. */
  readonly before?: (call: string) => Promise<void> | void
}): MemoryImportStore {
  const { nowMs, before = () => undefined } = options
  const imports = new Map<string, StoredImport>()
  const history: string[] = []
  const isAt = (stored: StoredImport | undefined, { status, nextPart, position }: ImportHead): boolean =>
    stored?.head.status === status && stored.head.nextPart === nextPart && stored.head.position === position
  const change = (from: ImportHead, to: ImportHead): StoredImport | undefined => {
    const stored = imports.get(from.importId)
    if (stored === undefined || !isAt(stored, from)) return undefined
    if (to.status !== from.status) history.push(to.status)
    stored.head = structuredClone(to)
    stored.updatedAtMs = nowMs()
    stored.drivenAtMs = nowMs()
    return stored
  }
  const put = (stored: StoredImport, { part, content, staged }: NewPart): void =>
    void stored.parts.set(part, { content, staged: structuredClone(staged), present: null })
  const settle = (stored: StoredImport | undefined): void => {
    if (stored === undefined || !['done', 'refused'].includes(stored.head.status)) return
    stored.settled = true
    for (const [part, kept] of stored.parts) stored.parts.set(part, { ...kept, staged: null, present: null })
  }
  const ids = (holds: (stored: StoredImport) => boolean): readonly string[] =>
    [...imports].filter(([, stored]) => holds(stored)).map(([importId]) => importId)
  const claim = (forMs: number, holds: (stored: StoredImport) => boolean): readonly string[] => {
    const found = ids((stored) => holds(stored) && stored.drivenAtMs <= nowMs() - forMs)
    for (const importId of found) touch(importId)
    return found
  }
  const touch = (importId: string): StoredImport | undefined => {
    const stored = imports.get(importId)
    if (stored !== undefined) stored.drivenAtMs = nowMs()
    return stored
  }

  return {
    imports,
    history,
    head: async (importId) => {
      await before('head')
      const stored = imports.get(importId)
      return stored === undefined ? undefined : structuredClone(stored.head)
    },
    begin: async (head, part) => {
      await before('begin')
      const earlier = imports.get(head.importId)
      if (earlier !== undefined && !(earlier.head.status === 'refused' && earlier.settled)) return 'taken'
      if (ids((stored) => stored.head.status === 'staging').length >= MAX_STAGED) return 'full'
      const at = { updatedAtMs: nowMs(), drivenAtMs: nowMs() }
      const stored: StoredImport = { head: structuredClone(head), settled: false, ...at, parts: new Map() }
      put(stored, part)
      imports.set(head.importId, stored)
      history.push(head.status)
      return 'begun'
    },
    change: async (from, to, { next, found, ends } = {}) => {
      await before('change')
      const stored = change(from, to)
      if (stored === undefined) return false
      if (next !== undefined) put(stored, next)
      const kept = found === undefined ? undefined : stored.parts.get(found.part)
      if (found !== undefined && kept !== undefined) {
        stored.parts.set(found.part, { ...kept, present: kept.present ?? structuredClone(found.present) })
      }
      if (ends === true) settle(stored)
      return true
    },
    decide: async (from, next) => {
      await before('decide')
      const taken = [...imports.values()].map(({ head }) => head).filter(({ status }) => TAKEN.has(status))
      const ofSource = taken.filter(({ source }) => source.ledgerId === from.source.ledgerId)
      return change(from, next(structuredClone(ofSource))) !== undefined
    },
    discard: async (from) => {
      await before('discard')
      if (isAt(imports.get(from.importId), from)) imports.delete(from.importId)
    },
    contentRef: (importId, text) => `${importId} ${text}`,
    contentOf: async (importId, part) => imports.get(importId)?.parts.get(part)?.content,
    part: async (importId, part) => {
      await before('part')
      const staged = imports.get(importId)?.parts.get(part)?.staged ?? null
      return staged === null ? undefined : structuredClone(staged)
    },
    present: async (importId, part) => imports.get(importId)?.parts.get(part)?.present ?? undefined,
    touch: async (importId) => {
      await before('touch')
      return touch(importId)?.head.status
    },
    settle: async (importId) => settle(imports.get(importId)),
    takeOver: async (which, forMs) =>
      claim(forMs, ({ head: { status }, settled }) =>
        which === 'unfinished' ? UNFINISHED.has(status) : status === 'refused' && !settled,
      ),
    dropStale: async (forMs) => {
      const found = ids(({ head, updatedAtMs }) => head.status === 'staging' && updatedAtMs <= nowMs() - forMs)
      for (const importId of found) imports.delete(importId)
      return found.length
    },
    close: async () => undefined,
  }
}
