/** Where a sealed text belongs: the table and what names the row in it. Authenticated with the text, and stored nowhere. */

/** Parts with a character between them that no part has. */
export type Place = string & { readonly place: never }

const BETWEEN = '\u001f'
/** Before the first of the values that a place is bound to. */
const BOUND = '\u001e'

/** `parts` are names and numbers of the ledger's own: none has a control character in it. */
export function placeOf(table: string, ...parts: readonly (string | number)[]): Place {
  let place = table
  for (const part of parts) place += `${BETWEEN}${part}`
  return place as Place
}

/** The place of a row whose columns have these values: a text that is sealed for it opens beside them alone. */
export function boundPlace(place: Place, ...values: readonly (string | number | null)[]): Place {
  let bound = place + BOUND
  for (const value of values) bound += `${value ?? ''}${BETWEEN}`
  return bound as Place
}

/** Without the values that it is bound to. */
export function nameOfPlace(place: string): string {
  const end = place.indexOf(BOUND)
  return (end === -1 ? place : place.slice(0, end)).replaceAll(BETWEEN, ' ')
}
