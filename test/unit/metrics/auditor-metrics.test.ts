/** The auditor's metrics show its findings by subject, and nothing while another auditor works. */
import { expect, test } from 'vitest'
import type { AuditMeasures } from '../../../infra/audit/auditor.ts'
import { registerAuditGauges } from '../../../infra/metrics/auditor-metrics.ts'
import { createRegistry } from '../../../infra/metrics/registry.ts'
import { SUBJECTS } from '../../../runtime/audit/finding.ts'
import { sampleOf } from './samples.ts'

const NONE = Object.fromEntries(SUBJECTS.map((subject) => [subject, 0])) as AuditMeasures['failed']

test('findings are counted by subject, and times are seconds', async () => {
  const registry = createRegistry()
  const failed = { ...NONE, chains_verify: 1_500 }
  let measures: AuditMeasures | undefined = { failed, passCompletedAtMs: 7_000, checkedUntilMs: null }
  registerAuditGauges(registry, () => measures)
  const text = await registry.metrics()
  const found = (subject: string) => sampleOf(text, 'ledger_audit_findings', { subject })
  expect(SUBJECTS.map(found)).toEqual(SUBJECTS.map((subject) => failed[subject]))
  expect(sampleOf(text, 'ledger_audit_pass_completed_timestamp_seconds')).toBe(7)
  expect(sampleOf(text, 'ledger_audit_checked_until_timestamp_seconds')).toBe(0)
  measures = undefined
  const idle = await registry.metrics()
  expect(sampleOf(idle, 'ledger_audit_findings')).toBeUndefined()
  expect(sampleOf(idle, 'ledger_audit_pass_completed_timestamp_seconds')).toBeUndefined()
})
