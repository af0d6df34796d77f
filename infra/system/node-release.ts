/** The end of security fixes by major version of Node.js (nodejs.org, "Previous Releases"). */
const SUPPORTED_UNTIL: ReadonlyMap<number, string> = new Map([
  [20, '2026-04-30'],
  [21, '2024-06-01'],
  [22, '2027-04-30'],
  [23, '2025-06-01'],
  [24, '2028-04-30'],
  [25, '2026-06-01'],
  [26, '2029-04-30'],
])

const DAY_MS = 86_400_000

/** The day on which support for a release ended; undefined: supported or unknown. */
export function endOfSupport(version: string, nowMs: number): string | undefined {
  const day = SUPPORTED_UNTIL.get(Number(version.split('.', 1)[0]))
  return day !== undefined && Date.parse(day) + DAY_MS <= nowMs ? day : undefined
}
