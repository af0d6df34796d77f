/**
 * Whether the part of the ledger in this container lives: exit code 0 or 1. It asks an edge on LEDGER_PORT, a node or the
 * auditor on LEDGER_METRICS_PORT. It asks /healthz and not /readyz: a part that waits for PostgreSQL or NATS is well, and
 * would only be longer away if it were started again. Load balancers ask /readyz, and so does --ready, for upgrades.
 */
const path = process.argv.includes('--ready') ? 'readyz' : 'healthz'
const port = process.env['LEDGER_PORT'] || process.env['LEDGER_METRICS_PORT'] || '8080'
try {
  const reply = await fetch(`http://127.0.0.1:${port}/${path}`, { signal: AbortSignal.timeout(3_000) })
  process.exitCode = reply.status === 200 ? 0 : 1
} catch {
  process.exitCode = 1
}
