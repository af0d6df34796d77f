/** The candidate that is the fewest insertions, deletions and replacements away. There is at least one candidate. */
export function nearestOf(text: string, candidates: readonly string[]): string {
  const [first = ''] = candidates
  let best = { candidate: first, distance: Number.POSITIVE_INFINITY }
  for (const candidate of candidates) {
    const distance = editDistance(text, candidate)
    if (distance < best.distance) best = { candidate, distance }
  }
  return best.candidate
}

/** Levenshtein's, a row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
