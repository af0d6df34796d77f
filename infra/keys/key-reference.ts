const REFERENCE = /^[\x21-\x2b\x2d-\x7e]{1,512}$/

/** Name of a key outside: printable ASCII without spaces and commas. The key program alone understands it. */
export function isKeyReference(text: string): boolean {
  return REFERENCE.test(text)
}
