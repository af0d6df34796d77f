import type { ComponentChildren } from 'preact'
import type { PagedRows } from './loaded.ts'
import { LoadedView } from './loaded-view.tsx'
import { Empty } from './page.tsx'

export interface Column<Row> {
  readonly title: string
  readonly isNumber?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

interface TableProps<Row> {
  /** For screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly markOf?: (row: Row) => 'tampered' | 'new' | undefined
  /** Instead of a table without rows. */
  readonly empty?: ComponentChildren
}

/** On a narrow screen each row becomes a card. The roles keep the table a table there. */
export function Table<Row>({ caption, columns, rows, keyOf, markOf, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" class={isNumber === true ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row" class={markOf?.(row)}>
            {columns.map(({ title, isNumber, cell }) => (
              <td key={title} role="cell" data-label={title} class={isNumber === true ? 'number' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface PagedTableProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  readonly name: string
  readonly paged: PagedRows<Row>
  readonly empty: ComponentChildren
}

/** A list of the interface, page by page. */
export function PagedTable<Row>({ name, paged, ...table }: PagedTableProps<Row>) {
  const { loaded, more, isLoadingMore } = paged
  return (
    <LoadedView of={loaded} name={name}>
      {({ rows, total }) => (
        <>
          <Table {...table} rows={rows} empty={more === undefined ? table.empty : 'No row so far matches.'} />
          {(rows.length > 0 || more !== undefined) && (
            <div class="table-foot">
              <span class="quiet">
                {rows.length.toLocaleString('en-US')} {total === undefined ? 'shown' : `of ${total}`}
              </span>
              {more !== undefined && (
                <button type="button" disabled={isLoadingMore} onClick={more}>
                  {isLoadingMore ? 'Loading …' : rows.length === 0 ? 'Search on' : 'Show more'}
                </button>
              )}
            </div>
          )}
        </>
      )}
    </LoadedView>
  )
}
