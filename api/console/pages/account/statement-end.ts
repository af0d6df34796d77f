import type { Statement } from '../../../client/index.ts'

export interface StatementEnd {
  /** The balance there. */
  readonly closing: string
  /** RFC 3339. */
  readonly time: string
  /** False: later movements exist, which are not loaded. */
  readonly isWhole: boolean
}

/** The end of the loaded pages: of a part of a statement, its last movement. */
export function statementEnd(pages: readonly Statement[]): StatementEnd | undefined {
  const last = pages.at(-1)
  if (last === undefined) return undefined
  const { closing, to, last_page: isWhole } = last
  const movement = pages.findLast(({ movements }) => movements.length > 0)?.movements.at(-1)
  return { closing, time: isWhole ? to : (movement?.timestamp ?? last.from ?? to), isWhole }
}
