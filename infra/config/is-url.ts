/** `bare`: also without a slash at the end, a query, a fragment and a user. */
export function isUrl(text: string, protocols: readonly string[], bare: boolean): boolean {
  if (!URL.canParse(text)) return false
  const parsed = new URL(text)
  if (!protocols.includes(parsed.protocol) || parsed.hostname === '') return false
  return !bare || (!text.endsWith('/') && parsed.search === '' && parsed.hash === '' && parsed.username === '')
}
