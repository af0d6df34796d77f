/** The files of infra/deploy/monitoring, and Prometheus's programs. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { debianFiles } from '../processes/debian-files.ts'

export const MONITORING = join(import.meta.dirname, '..', '..', '..', 'infra', 'deploy', 'monitoring')

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

export function alertRules(): readonly AlertRule[] {
  const { groups } = parse(readFileSync(join(MONITORING, 'alerts.yaml'), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly AlertRule[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: unknown
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } }
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[]
}

export interface Dashboard {
  readonly schemaVersion: number
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[]
  }
  readonly panels: readonly Panel[]
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(join(MONITORING, 'dashboard.json'), 'utf8')) as Dashboard
}

/** Files of the package that has Prometheus and promtool. */
export async function prometheusProgram(name: 'prometheus' | 'promtool'): Promise<string> {
  const { path } = await debianFiles(['prometheus'], 'usr/bin/promtool')
  return path(join('usr', 'bin', name))
}

export async function promtool(
  ...args: readonly string[]
): Promise<{ readonly status: number | null; readonly output: string }> {
  const { status, stdout, stderr } = spawnSync(await prometheusProgram('promtool'), args, { encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}
