/** The metrics of the auditor. */
import { Gauge, type Registry } from 'prom-client'
import { SUBJECTS } from '../../runtime/audit/finding.ts'
import type { AuditMeasures } from '../audit/auditor.ts'
import { MS_PER_SECOND, registerGauges } from './registry.ts'

/** `measure`: undefined before the first save, and while another auditor works. */
export function registerAuditGauges(registry: Registry, measure: () => AuditMeasures | undefined): void {
  registry.registerMetric(
    new Gauge({
      name: 'ledger_audit_findings',
      help: 'Findings by subject. A finding ends with the next complete pass that does not repeat it.',
      labelNames: ['subject'],
      registers: [],
      collect() {
        const measures = measure()
        this.reset()
        if (measures === undefined) return
        for (const subject of SUBJECTS) this.set({ subject }, measures.failed[subject])
      },
    }),
  )
  registerGauges(registry, measure, [
    {
      name: 'ledger_audit_pass_completed_timestamp_seconds',
      help: 'Time of the last complete pass over the ledger; 0: never.',
      of: ({ passCompletedAtMs }) => (passCompletedAtMs ?? 0) / MS_PER_SECOND,
    },
    {
      name: 'ledger_audit_checked_until_timestamp_seconds',
      help: 'Every commit before this time was checked; 0: unknown.',
      of: ({ checkedUntilMs }) => (checkedUntilMs ?? 0) / MS_PER_SECOND,
    },
  ])
}
