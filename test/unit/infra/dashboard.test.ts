/** The Grafana dashboard is complete and readable. That its metrics exist is in test/e2e/monitoring/alerts.e2e.test.ts. */
import { expect, test } from 'vitest'
import { dashboard, type Panel } from '../../support/monitoring/monitoring-files.ts'
import { namedIn } from '../../support/monitoring/promql.ts'

const COLUMNS = 24
const { panels, schemaVersion, templating } = dashboard()
const charts = panels.filter(({ type }) => type !== 'row')

function cellsOf({ gridPos: { x, y, w, h } }: Panel): readonly string[] {
  return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`)
}

test('its panels have different IDs and titles, fit into the columns, and do not overlap', () => {
  expect(schemaVersion).toBeGreaterThanOrEqual(36)
  for (const key of ['id', 'title'] as const)
    expect(new Set(panels.map((panel) => panel[key])).size).toBe(panels.length)
  expect(panels.filter(({ gridPos: { x, w } }) => x < 0 || w < 1 || x + w > COLUMNS)).toEqual([])
  const cells = panels.flatMap(cellsOf)
  expect(new Set(cells).size).toBe(cells.length)
})

test('each chart has a unit, queries with different names, and the data source that its reader chooses', () => {
  expect(templating.list.map(({ name, type, query }) => [name, type, query])).toEqual([
    ['datasource', 'datasource', 'prometheus'],
  ])
  for (const { title, datasource, fieldConfig, targets = [] } of charts) {
    expect([title, datasource]).toEqual([title, { type: 'prometheus', uid: '${datasource}' }])
    expect([title, fieldConfig?.defaults.unit]).toEqual([title, expect.stringMatching(/./)])
    expect(targets.length).toBeGreaterThan(0)
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
  }
})

test('each query is PromQL that names a metric; a text that is not is noticed', () => {
  for (const { expr } of charts.flatMap(({ targets = [] }) => targets)) {
    const { selectors } = namedIn(expr.replaceAll('$__rate_interval', '1m'))
    expect([expr, selectors.length > 0, selectors.filter((selector) => selector.startsWith('{'))]).toEqual([
      expr,
      true,
      [],
    ])
  }
  expect(() => namedIn('sum(ledger_shards')).toThrow('no PromQL at character')
})
