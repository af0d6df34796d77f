/** A URL as it may be shown: without its password, and without parameters, which may hold secrets too. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)'
  const parsed = new URL(url)
  const user = parsed.username === '' ? '' : `${parsed.username}${parsed.password === '' ? '' : ':***'}@`
  return `${parsed.protocol}//${user}${parsed.host}${parsed.pathname}`
}
