import { useState } from 'preact/hooks'
import { type Loaded, useLoad } from './use-load.ts'

export interface ListPage<Row> {
  readonly rows: readonly Row[]
  /** Empty on the last page. */
  readonly next: string
  /** In words, such as `1,204`; undefined: the list does not tell. */
  readonly total?: string
}

export interface PagedRows<Row> {
  readonly loaded: Loaded<ListPage<Row>>
  /** Undefined: all rows are here. */
  readonly more: (() => void) | undefined
  readonly isLoadingMore: boolean
  readonly reload: () => void
}

/** The first page of a list, and more on demand. */
export function usePages<Row>(
  read: (pageToken: string | undefined, signal: AbortSignal) => Promise<ListPage<Row>>,
  dependencies: readonly unknown[],
): PagedRows<Row> {
  const [further, setFurther] = useState<readonly ListPage<Row>[]>([])
  const [wanted, setWanted] = useState<string>()
  const first = useLoad((signal) => {
    setFurther([])
    setWanted(undefined)
    return read(undefined, signal)
  }, dependencies)
  const next = useLoad(
    async (signal) => {
      if (wanted === undefined) return
      const page = await read(wanted, signal)
      setFurther((before) => [...before, page])
      setWanted(undefined)
    },
    [wanted],
  )
  if (first.loaded.state !== 'done') {
    return { loaded: first.loaded, more: undefined, isLoadingMore: false, reload: first.reload }
  }
  if (next.loaded.state === 'failed') {
    return { loaded: next.loaded, more: undefined, isLoadingMore: false, reload: first.reload }
  }
  const pages = [first.loaded.value, ...further]
  const last = pages.at(-1)?.next ?? ''
  const value = { ...first.loaded.value, rows: pages.flatMap(({ rows }) => rows), next: last }
  return {
    loaded: { state: 'done', value },
    more: last === '' ? undefined : () => setWanted(last),
    isLoadingMore: wanted !== undefined,
    reload: first.reload,
  }
}

/** `total_count` in words. */
export function totalText(page: { readonly total_count: number; readonly total_count_relation: 'eq' | 'gte' }): string {
  const count = page.total_count.toLocaleString('en-US')
  return page.total_count_relation === 'eq' ? count : `at least ${count}`
}
