/** The place of a sealed text: its table and row. Authenticated with the text, but not stored. */

export type Place = string & { readonly place: never }

const SEPARATOR = '\u001f'
/** Separates a place from the values that it is bound to. */
const BOUND = '\u001e'

/** `parts`: must not contain control characters. */
export function placeOf(table: string, ...parts: readonly (string | number)[]): Place {
  let place = table
  for (const part of parts) place += `${SEPARATOR}${part}`
  return place as Place
}

/** Binds the place to column values of the row: the text does not open if they change. */
export function boundPlace(place: Place, ...values: readonly (string | number | null)[]): Place {
  let bound = place + BOUND
  for (const value of values) bound += `${value ?? ''}${SEPARATOR}`
  return bound as Place
}

/** The place without its bound values, for messages. */
export function nameOfPlace(place: string): string {
  const end = place.indexOf(BOUND)
  return (end === -1 ? place : place.slice(0, end)).replaceAll(SEPARATOR, ' ')
}
