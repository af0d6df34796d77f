import { useMemo, useState } from 'preact/hooks'
import type { ItemOf, ListId } from '../../client/index.ts'
import { type AnyRequest, type Arguments, itemsOf } from '../../client/operations-call.ts'
import { useSession } from '../session/session.ts'
import type { ListPage, Loaded, PagedRows } from './loaded.ts'
import { firstRows } from './search-pages.ts'
import { useLoad } from './use-load.ts'

/** A list of the interface. `request`: without the page. */
export function useList<Id extends ListId>(
  id: Id,
  request: Pick<AnyRequest, 'path' | 'query'> = {},
  pageSize = 50,
): PagedRows<ItemOf<Id>> {
  const { client } = useSession()
  return usePages(
    async (pageToken, signal) => {
      const query = { page_size: pageSize, ...request.query, page_token: pageToken }
      const page = await client.call(id, ...([{ ...request, query, signal }] as object as Arguments<Id>))
      return { rows: itemsOf(id, page), ...placeOf(page) }
    },
    [client, id, JSON.stringify(request)],
  )
}

/** The first page of a list, and more on demand. */
export function usePages<Row>(
  read: (pageToken: string | undefined, signal: AbortSignal) => Promise<ListPage<Row>>,
  dependencies: readonly unknown[],
): PagedRows<Row> {
  const search = (from: string | undefined, signal: AbortSignal) => firstRows((token) => read(token, signal), from)
  const [further, setFurther] = useState<readonly ListPage<Row>[]>([])
  const [wanted, setWanted] = useState<string>()
  const first = useLoad((signal) => {
    setFurther([])
    setWanted(undefined)
    return search(undefined, signal)
  }, dependencies)
  const next = useLoad(
    async (signal) => {
      if (wanted === undefined) return
      const page = await search(wanted, signal)
      setFurther((before) => [...before, page])
      setWanted(undefined)
    },
    [wanted],
  )
  // The same rows are the same array: checks of rows compare it.
  const loaded = useMemo(() => joined(first.loaded, further), [first.loaded, further])
  const { reload } = first
  const last = loaded.state === 'done' ? loaded.value.next : ''
  if (last === '') return { loaded, more: undefined, isLoadingMore: false, reload }
  if (next.loaded.state === 'failed') return { loaded: next.loaded, more: undefined, isLoadingMore: false, reload }
  return { loaded, more: () => setWanted(last), isLoadingMore: wanted !== undefined, reload }
}

function joined<Row>(first: Loaded<ListPage<Row>>, further: readonly ListPage<Row>[]): Loaded<ListPage<Row>> {
  if (first.state !== 'done') return first
  const pages = [first.value, ...further]
  const rows = pages.flatMap((page) => page.rows)
  return { state: 'done', value: { ...first.value, rows, next: pages.at(-1)?.next ?? '' } }
}

interface PagePlace {
  readonly next_page_token?: string
  readonly total_count?: number
  readonly total_count_relation?: 'eq' | 'gte'
}

function placeOf({ next_page_token: next = '', total_count: count, total_count_relation: relation }: PagePlace) {
  if (count === undefined) return { next }
  const total = count.toLocaleString('en-US')
  return { next, total: relation === 'gte' ? `at least ${total}` : total }
}
