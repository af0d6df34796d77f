import type { ListPage } from './loaded.ts'

const MOST_EMPTY_PAGES = 20

/** Reads on while pages are empty and not the last: a page of filtered rows may be. Stops after 20 pages. */
export async function firstRows<Row>(
  read: (pageToken: string | undefined) => Promise<ListPage<Row>>,
  pageToken: string | undefined,
): Promise<ListPage<Row>> {
  let page = await read(pageToken)
  for (let count = 1; page.rows.length === 0 && page.next !== '' && count < MOST_EMPTY_PAGES; count += 1) {
    page = await read(page.next)
  }
  return page
}
