/** A real Prometheus with the rules of the deployment, which scrapes parts of a ledger every second. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { Closing } from '../closing.ts'
import { until } from '../processes/cluster-process.ts'
import { debianFiles } from '../processes/debian-files.ts'
import { freePort } from '../processes/free-ports.ts'
import { MONITORING, prometheusProgram } from './monitoring-files.ts'

export type Labels = Readonly<Record<string, string>>

/** One that is firing, or will after its time. */
export interface ActiveAlert {
  readonly labels: Labels
  readonly annotations: Readonly<Record<string, string>>
  readonly state: 'pending' | 'firing'
}

export interface Prometheus {
  readonly alerts: () => Promise<readonly ActiveAlert[]>
  /** The labels of the series that a selector selects. */
  readonly series: (selector: string) => Promise<readonly Labels[]>
  readonly close: () => Promise<void>
}

/** Ports of metrics by the label `part`. */
export type Targets = Readonly<Record<string, readonly number[]>>

const READY_MS = 180_000

interface Configuration {
  readonly scrape_configs: readonly {
    readonly job_name: string
    readonly static_configs: readonly { readonly labels?: Labels; readonly targets: readonly string[] }[]
  }[]
}

/** Also starts a node_exporter, in the place of those on the machines of PostgreSQL and NATS. */
export async function startPrometheus(targets: Targets): Promise<Prometheus> {
  const closing = new Closing()
  return closing.unlessStarted(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ledger-prometheus-'))
    closing.add(() => rmSync(directory, { recursive: true, force: true }))
    const exporterPort = await freePort()
    const exporter = await debianFiles(['prometheus-node-exporter'], 'usr/bin/prometheus-node-exporter')
    const exporterArgs = [`--web.listen-address=127.0.0.1:${exporterPort}`]
    closing.add(run(exporter.path('usr/bin/prometheus-node-exporter'), exporterArgs))
    const file = join(directory, 'prometheus.yaml')
    writeFileSync(file, configured(targets, exporterPort))
    const port = await freePort()
    const places = [`--config.file=${file}`, `--storage.tsdb.path=${join(directory, 'data')}`]
    closing.add(run(await prometheusProgram('prometheus'), [...places, `--web.listen-address=127.0.0.1:${port}`]))
    const origin = `http://127.0.0.1:${port}`
    await until('Prometheus is ready', READY_MS, () =>
      fetch(`${origin}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const get = async <Data>(path: string): Promise<Data> => {
      const reply = (await (await fetch(`${origin}/api/v1/${path}`)).json()) as { readonly data: Data; error?: string }
      if (reply.error !== undefined) throw new Error(reply.error)
      return reply.data
    }
    return {
      alerts: async () => (await get<{ readonly alerts: readonly ActiveAlert[] }>('alerts')).alerts,
      series: (selector) => get<readonly Labels[]>(`series?match[]=${encodeURIComponent(selector)}`),
      close: () => closing.close(),
    }
  })
}

/** The example of the deployment with other targets, a second as its interval, and the rules from their place. */
function configured(targets: Targets, exporterPort: number): string {
  const example = parse(readFileSync(join(MONITORING, 'prometheus.yaml'), 'utf8')) as Configuration
  const at = (port: number): string => `127.0.0.1:${port}`
  return stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [join(MONITORING, 'alerts.yaml')],
    scrape_configs: example.scrape_configs.map((job) => ({
      ...job,
      static_configs: job.static_configs.map(({ labels, ...rest }) => {
        if (labels === undefined) return { ...rest, targets: [at(exporterPort)] }
        return { ...rest, labels, targets: (targets[labels['part'] ?? ''] ?? []).map(at) }
      }),
    })),
  })
}

/** Returns what ends it. */
function run(program: string, args: readonly string[]): () => Promise<void> {
  const child: ChildProcess = spawn(program, args, { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  return async () => {
    child.kill('SIGKILL')
    await exited
  }
}
