/** Removes the password and the parameters, which may be secret too. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)'
  const parsed = new URL(url)
  const user = parsed.username === '' ? '' : `${parsed.username}${parsed.password === '' ? '' : ':***'}@`
  return `${parsed.protocol}//${user}${parsed.host}${parsed.pathname}`
}
