/** Where a sealed text belongs: the table and what names the row in it. Authenticated with the text, and stored nowhere. */

/** Parts with a character between them that no part has. */
export type Place = string & { readonly place: never }

const BETWEEN = '\u001f'
/** Separates a place from the values that it is bound to. */
const BOUND = '\u001e'

/** `parts` are names and numbers of the ledger's own: none has a control character in it. */
export function placeOf(table: string, ...parts: readonly (string | number)[]): Place {
  let place = table
  for (const part of parts) place += `${BETWEEN}${part}`
  return place as Place
}

/** The place of a row with these column values: a text sealed for it opens beside no others. */
export function boundPlace(place: Place, ...values: readonly (string | number | null)[]): Place {
  let bound = place + BOUND
  for (const value of values) bound += `${value ?? ''}${BETWEEN}`
  return bound as Place
}

/** The place without the values that it is bound to. */
export function nameOfPlace(place: string): string {
  const end = place.indexOf(BOUND)
  return (end === -1 ? place : place.slice(0, end)).replaceAll(BETWEEN, ' ')
}
