/** Data of a page, from the start of its load. */
export type Loaded<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'done'; readonly value: Value }

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
