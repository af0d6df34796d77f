/** A part of a statement. */
export interface StatementPeriod {
  readonly tokenId: string
  /** Minutes in UTC, such as `2026-11-29T09:18`; empty: from the beginning, until now. */
  readonly from: string
  readonly to: string
}

/** The period as parameters of the interface. */
export function periodQuery({ tokenId, from, to }: StatementPeriod) {
  return {
    token_id: tokenId,
    ...(from === '' ? {} : { from: timeOf(from) }),
    ...(to === '' ? {} : { to: timeOf(to) }),
  }
}

/** RFC 3339. A minute that the browser writes may have seconds. */
function timeOf(minute: string): string {
  return new Date(`${minute}Z`).toISOString()
}
