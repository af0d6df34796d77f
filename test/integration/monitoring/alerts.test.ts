/** The alert rules are valid, fire when they should, stay silent when they should, and are explained. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALERT_CASES, type AlertCase, SILENT_AUDITOR_CASES } from './alert-cases.ts'
import { alertRules, MONITORING, promtool } from '../../support/monitoring/monitoring-files.ts'

const ROOT = join(MONITORING, '..', '..', '..')
/** Names of PostgreSQL in the runbook. */
const NOT_OURS = ['archive_command', 'pg_wal']

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-alerts-'))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A file for `promtool test rules`: in `series` the alert fires with what `expected` lists. */
function ruleTest(alert: string, { at }: AlertCase, series: AlertCase['fires'], expected: readonly object[]): object {
  return {
    interval: '15s',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: expected }],
  }
}

async function runRuleTest(
  tests: readonly object[],
): Promise<{ readonly status: number | null; readonly output: string }> {
  const file = join(directory, 'cases.json')
  const ruleFiles = [join(MONITORING, 'alerts.yaml')]
  writeFileSync(file, JSON.stringify({ rule_files: ruleFiles, evaluation_interval: '15s', tests }))
  return promtool('test', 'rules', file)
}

function readRunbook(): string {
  return readFileSync(join(MONITORING, 'README.md'), 'utf8')
}

function expectedAlert(alert: string, { labels, severity, summary }: AlertCase): object {
  const runbook = `https://ledger.example.com/docs/guides/runbook#${alert.toLowerCase()}`
  return { exp_labels: { ...labels, severity }, exp_annotations: { summary, runbook_url: runbook } }
}

test('promtool accepts the rules and the example of a configuration', async () => {
  for (const [kind, file] of [
    ['rules', 'alerts.yaml'],
    ['config', 'prometheus.yaml'],
  ] as const) {
    const { status, output } = await promtool('check', kind, join(MONITORING, file))
    expect(output).toContain('SUCCESS')
    expect(status).toBe(0)
  }
})

test('each alert has a case', () => {
  expect(Object.keys(ALERT_CASES)).toEqual(alertRules().map(({ alert }) => alert))
})

test('each alert fires in its case with its labels and summary, and stays silent just short of it', async () => {
  const cases = [...Object.entries(ALERT_CASES), ...Object.entries(SILENT_AUDITOR_CASES)]
  const tests = cases.flatMap(([alert, given]) => [
    ruleTest(alert, given, given.fires, [expectedAlert(alert, given)]),
    ruleTest(alert, given, given.silent, []),
  ])
  const { status, output } = await runRuleTest(tests)
  expect(output).toContain('SUCCESS')
  expect(status).toBe(0)
})

test('the runbook has an entry for each alert, and no other, and the guide for operators lists them', () => {
  const names = alertRules().map(({ alert }) => alert)
  expect([...readRunbook().matchAll(/^### (Ledger\w+)$/gm)].map(([, name]) => name)).toEqual(names)
  const guide = readFileSync(join(MONITORING, '..', '..', 'README.md'), 'utf8')
  const listed = [...guide.matchAll(/\[`(Ledger\w+)`\]\(deploy\/monitoring\/README\.md#(\w+)\)/g)]
  expect(listed.map(([, name, anchor]) => [name, anchor])).toEqual(names.map((name) => [name, name.toLowerCase()]))
})

test('each log event, metric and setting that the runbook names is in the sources', () => {
  const sources = ['runtime', 'infra'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|conf|yaml)$/.test(file))
      .map((file) => readFileSync(join(ROOT, top, file), 'utf8')),
  )
  const named = [...readRunbook().matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !NOT_OURS.includes(name) && !sources.some((text) => text.includes(name)))).toEqual([])
})
