/** Finds a sample in Prometheus's text format. */
export function sampleOf(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  for (const line of text.split('\n')) {
    const [, found, inner = '', value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (found !== name || value === undefined) continue
    const has = Object.fromEntries([...inner.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, key, text]) => [key, text]))
    if (Object.entries(labels).every(([key, text]) => has[key] === text)) return Number(value)
  }
  return undefined
}
