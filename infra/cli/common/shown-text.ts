/**
 * Text from the ledger as a terminal may show it. Names and metadata are chosen by strangers: their control characters could move
 * the cursor, recolor lines or reverse the direction of writing.
 */

/** C0 and C1 controls, and the marks that change the direction of text (Unicode UAX #9, 2). */
const UNSAFE = /[\p{Cc}\u{61c}\u{200e}\u{200f}\u{2028}-\u{202e}\u{2066}-\u{2069}]/gu

/** Each unsafe character becomes `\u{...}`. */
export function shownText(text: string): string {
  return text.replaceAll(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}

/** The same for each line of a text whose line feeds are meant. */
export function shownLines(text: string): string {
  return text.split('\n').map(shownText).join('\n')
}

/** JSON on one line. Unsafe characters are escaped, so that it is the same value in a terminal and in a file. */
export function shownJson(value: unknown): string {
  return escapedJson(JSON.stringify(value))
}

/** The same of a JSON text without white space. */
export function escapedJson(text: string): string {
  return text.replaceAll(UNSAFE, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
}
