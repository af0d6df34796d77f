/** Values as texts, in one order, where theirs does not matter. */
export function sorted(values: Iterable<unknown>): readonly string[] {
  return Array.from(values, String).toSorted()
}
