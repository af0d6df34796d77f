/** Where a sealed text belongs: the table and what names the row in it. Authenticated with the text, and stored nowhere. */

/** Parts with a character between them that no part has. */
export type Place = string & { readonly place: never }

const BETWEEN = '\u001f'

/** `parts` are names and numbers of the ledger's own: none has a control character in it. */
export function placeOf(table: string, ...parts: readonly (string | number)[]): Place {
  let place = table
  for (const part of parts) place += `${BETWEEN}${part}`
  return place as Place
}
