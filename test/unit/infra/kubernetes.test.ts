/**
 * The example for Kubernetes has only fields that Kubernetes knows, and agrees with the ledger. The types of
 * `kubernetes-types` come from the interface description of Kubernetes 1.30.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment, StatefulSet } from 'kubernetes-types/apps/v1.d.ts'
import type { Job } from 'kubernetes-types/batch/v1.d.ts'
import type { ConfigMap, Container, PodSpec, PodTemplateSpec, Probe, Service } from 'kubernetes-types/core/v1.d.ts'
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts'
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts'
import { parseAllDocuments } from 'yaml'
import { missingInProduction, readConfiguration } from '../../../infra/config/configuration.ts'
import { projectRoot } from '../../support/processes/cluster-process.ts'
import { makeSecrets } from '../../support/nats/secured-nats.ts'
import { commandLine } from '../cli/cli-fixture.ts'

interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

type Workload = Resource & (Deployment | StatefulSet | Job)

const FOLDER = join(projectRoot(), 'infra', 'deploy', 'kubernetes')
const SECRETS = '/run/secrets/ledger'
/** The longest time that `ledger` takes to stop. */
const STOP_TIMEOUT_SECONDS = 20
/** The file of each secret in the directory of `make-secrets.mjs`. */
const SECRET_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ledger-owner': {
    'ca.pem': 'ca.pem',
    'master.key': 'master.key',
    'database.password': 'ledger_owner.password',
  },
  'ledger-auditor': {
    'ca.pem': 'ca.pem',
    'part.key': 'part-auditor.key',
    'database.password': 'ledger_auditor.password',
  },
  ...Object.fromEntries(
    ['node', 'edge'].map((part) => [
      `ledger-${part}`,
      {
        'ca.pem': 'ca.pem',
        'part.key': `part-${part}.key`,
        'database.password': `ledger_${part}.password`,
        'nats.nk': `nats-${part}.nk`,
      },
    ]),
  ),
}

const files = readdirSync(FOLDER).filter((name) => name !== 'kustomization.yaml')
const resources = files.flatMap((name) =>
  parseAllDocuments(readFileSync(join(FOLDER, name), 'utf8'), { strict: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${name}: ${document.errors.join('\n')}`)
    return document.toJS() as Resource
  }),
)
const kustomization = parseAllDocuments(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8'))[0]?.toJS() as {
  readonly namespace: string
  readonly resources: readonly string[]
  readonly images: readonly { readonly name: string; readonly newTag: string }[]
}

function ofKind<T>(kind: string): readonly (Resource & T)[] {
  return resources.filter((one) => one.kind === kind) as (Resource & T)[]
}

const workloads = [
  ...ofKind<StatefulSet>('StatefulSet'),
  ...ofKind<Deployment>('Deployment'),
  ...ofKind<Job>('Job'),
] as readonly Workload[]
const byName = workloads.map((workload) => [workload.metadata.name, workload] as const)
const parts = byName.filter(([name]) => name !== 'migrate')

function template({ spec }: Workload): PodTemplateSpec {
  if (spec === undefined) throw new Error('a workload has no spec')
  return spec.template
}

function podOf(workload: Workload): PodSpec {
  const { spec } = template(workload)
  if (spec === undefined) throw new Error('a pod has no spec')
  return spec
}

function containerOf(workload: Workload): Container {
  const [container, ...others] = podOf(workload).containers
  if (container === undefined || others.length > 0) throw new Error('a pod has one container')
  return container
}

function fieldOf({ metadata }: Workload, path: string | undefined): string {
  if (path !== 'metadata.name') throw new Error(`a variable has the value of ${path}`)
  return `${metadata.name}-0`
}

/** As the first pod gets it. */
function environmentOf(workload: Workload): Record<string, string> {
  const { envFrom = [], env = [] } = containerOf(workload)
  const shared = envFrom.flatMap(({ configMapRef }) => {
    const map = ofKind<ConfigMap>('ConfigMap').find(({ metadata }) => metadata.name === configMapRef?.name)
    if (map?.data === undefined) throw new Error(`there is no ConfigMap ${configMapRef?.name}`)
    return Object.entries(map.data)
  })
  const own = env.map(
    ({ name, value, valueFrom }) => [name, value ?? fieldOf(workload, valueFrom?.fieldRef?.fieldPath)] as const,
  )
  return Object.fromEntries([...shared, ...own])
}

function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, workload: Workload): boolean {
  const labels = template(workload).metadata?.labels ?? {}
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, values = [] }) => values.includes(labels[key] ?? ''))
  )
}

let secrets: string
beforeAll(() => {
  secrets = makeSecrets([])
})
afterAll(() => rmSync(secrets, { recursive: true, force: true }))

/** The output of the compiler for the resources as literals of their types: empty if each field exists and fits. */
function compilerOutput(given: readonly Resource[]): string {
  const dist = join(projectRoot(), 'dist')
  mkdirSync(dist, { recursive: true })
  // Below the root, so that it finds the package.
  const directory = mkdtempSync(join(dist, '.kubernetes-'))
  try {
    const lines = given.map((resource, place) => {
      const group = resource.apiVersion === 'v1' ? 'core/v1' : resource.apiVersion.replace('.k8s.io', '')
      const type = `import('kubernetes-types/${group}.d.ts').${resource.kind}`
      return `export const resource${place}: ${type} = ${JSON.stringify(resource, null, 1)}`
    })
    writeFileSync(join(directory, 'resources.ts'), lines.join('\n'))
    const compiler = join(projectRoot(), 'node_modules', 'typescript', 'bin', 'tsc')
    const options = [
      '--noEmit',
      '--strict',
      '--ignoreConfig',
      '--types',
      '',
      '--module',
      'nodenext',
      '--target',
      'es2023',
    ]
    return spawnSync(process.execPath, [compiler, ...options, join(directory, 'resources.ts')], { encoding: 'utf8' })
      .stdout
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe('fields', () => {
  test('Kubernetes knows every field, and each has a value of its type', () => {
    expect(compilerOutput(resources)).toBe('')
  })

  test('a misspelt field and a value of another type are errors', () => {
    const copy = JSON.parse(JSON.stringify(resources)) as Resource[]
    const budget = copy.find(({ kind }) => kind === 'PodDisruptionBudget') as Resource & PodDisruptionBudget
    Object.assign(budget.spec ?? {}, { maxUnavail: 1 })
    const set = copy.find(({ kind }) => kind === 'StatefulSet') as Resource & StatefulSet
    Object.assign(set.spec ?? {}, { replicas: 'three' })
    const output = compilerOutput(copy)
    expect(output).toContain(`'"maxUnavail"' does not exist in type 'PodDisruptionBudgetSpec'`)
    expect(output).toContain("Type 'string' is not assignable to type 'number'")
  })

  test('kustomization.yaml names every file and the version of the ledger', () => {
    expect([...kustomization.resources].sort()).toEqual([...files].sort())
    const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as { version: string }
    expect(kustomization.images).toEqual([{ name: 'ledger', newTag: version }])
    expect(ofKind('Namespace').map(({ metadata }) => metadata.name)).toEqual([kustomization.namespace])
  })
})

describe('workloads', () => {
  test('the parts are those of compose.yaml', () => {
    expect(byName.map(([name]) => name).sort()).toEqual(['auditor', 'edge', 'migrate', 'node'])
  })

  test.for(byName)('%s runs an existing command in the image of the ledger', async ([name, workload]) => {
    const { args = [], image } = containerOf(workload)
    expect(args).toEqual([name])
    expect(image).toBe('ledger')
    const { code, out } = await commandLine().run([...args, '--help'])
    expect([code, out.includes(`Usage: ledger ${name}`)]).toEqual([0, true])
  })

  test.for(byName)('%s has a valid and complete environment for production, without secrets', ([name, workload]) => {
    const environment = environmentOf(workload)
    const read = readConfiguration(environment, '/')
    if (!read.ok) throw new Error(read.error.join('\n'))
    expect(read.value.warnings).toEqual([])
    const { configuration } = read.value
    const usesNats = name === 'node' || name === 'edge'
    const needed = usesNats ? configuration : { ...configuration, nats: { ...configuration.nats, urls: [] } }
    expect(missingInProduction(needed, false)).toEqual([])
    const url = new URL(environment['LEDGER_DATABASE_URL'] ?? '')
    const role = name === 'migrate' ? 'owner' : name
    expect([url.username, url.password, url.searchParams.get('sslmode')]).toEqual([`ledger_${role}`, '', 'verify-full'])
  })

  test.for(byName)('%s is given every secret that its environment names, and no other', ([name, workload]) => {
    const { volumes = [] } = podOf(workload)
    const { volumeMounts = [] } = containerOf(workload)
    expect(volumeMounts.map((mount) => mount.name).sort()).toEqual(volumes.map((volume) => volume.name).sort())
    const secret = volumes.find((volume) => volume.name === 'secrets')?.secret?.secretName ?? ''
    expect(secret).toBe(`ledger-${name === 'migrate' ? 'owner' : name}`)
    expect(volumeMounts.find((mount) => mount.name === 'secrets')?.mountPath).toBe(SECRETS)
    const named = Object.values(environmentOf(workload)).filter((value) => value.startsWith(`${SECRETS}/`))
    const given = SECRET_FILES[secret] ?? {}
    expect(new Set(named.map((path) => path.slice(SECRETS.length + 1)))).toEqual(new Set(Object.keys(given)))
    for (const file of Object.values(given)) expect(existsSync(join(secrets, file))).toBe(true)
  })

  test('the guide creates exactly these secrets from the files of make-secrets.mjs', () => {
    const guide = readFileSync(join(FOLDER, '..', 'README.md'), 'utf8')
    const created = Object.fromEntries(
      [...guide.matchAll(/create secret generic (\S+)((?:[\s\\]+--from-file=\S+)+)/g)].map(
        ([, name = '', all = '']) => [
          name,
          Object.fromEntries(
            [...all.matchAll(/--from-file=(\S+?)=\$SECRETS\/(\S+)/g)].map(([, key = '', file = '']) => [key, file]),
          ),
        ],
      ),
    )
    expect(created).toEqual(SECRET_FILES)
  })

  test.for(byName)('%s runs confined: no root, no privileges, no writable files but /tmp', ([, workload]) => {
    const pod = podOf(workload)
    expect(pod.securityContext).toEqual(
      expect.objectContaining({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } }),
    )
    expect(pod.automountServiceAccountToken).toBe(false)
    const { securityContext, resources: needed } = containerOf(workload)
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(Object.keys(needed?.requests ?? {})).toEqual(['cpu', 'memory'])
    expect(needed?.limits?.['memory']).toBeDefined()
    expect(environmentOf(workload)['LEDGER_DATA_DIR']).toMatch(/^\/tmp\//)
  })

  test.for(parts)('%s has probes at the paths and ports that it serves', ([name, workload]) => {
    const { startupProbe, livenessProbe, readinessProbe, ports = [] } = containerOf(workload)
    const environment = environmentOf(workload)
    const paths = (probes: readonly (Probe | undefined)[]) => probes.map((probe) => probe?.httpGet)
    const port = name === 'edge' ? 'http' : 'metrics'
    expect(paths([startupProbe, livenessProbe, readinessProbe])).toEqual([
      { path: '/healthz', port },
      { path: '/healthz', port },
      { path: '/readyz', port },
    ])
    const listened = { http: environment['LEDGER_PORT'], metrics: environment['LEDGER_METRICS_PORT'] }
    for (const { name: which, containerPort } of ports) {
      expect(listened[which as keyof typeof listened]).toBe(String(containerPort))
    }
    expect(environment['LEDGER_METRICS_HOST']).toBe('0.0.0.0')
  })

  test.for(byName)('%s has more time to stop than it needs', ([name, workload]) => {
    const seconds = podOf(workload).terminationGracePeriodSeconds ?? 30
    const before = containerOf(workload).lifecycle?.preStop?.exec?.command ?? ['sleep', '0']
    expect(seconds).toBeGreaterThan(STOP_TIMEOUT_SECONDS + Number(before[1]))
    // An edge first waits until the Service sends it no more connections.
    expect(Number(before[1]) > 0).toBe(name === 'edge')
  })
})

describe('selectors', () => {
  const labelled = (selector: LabelSelector) =>
    workloads.filter((workload) => selects(selector, workload)).map(({ metadata }) => metadata.name)

  test('each workload, budget and service selects its own pods', () => {
    const own = workloads.filter(({ kind }) => kind !== 'Job') as (Resource & (Deployment | StatefulSet))[]
    for (const { metadata, spec } of own) expect(labelled(spec?.selector ?? {})).toEqual([metadata.name])
    const budgets = ofKind<PodDisruptionBudget>('PodDisruptionBudget')
    expect(budgets.map(({ spec }) => labelled(spec?.selector ?? {}))).toEqual([['edge'], ['node']])
    const services = ofKind<Service>('Service').map(({ metadata, spec }) => [
      metadata.name,
      ...labelled({ matchLabels: spec?.selector ?? {} }),
    ])
    expect(services).toEqual([
      ['ledger', 'edge'],
      ['node', 'node'],
    ])
  })

  test('a disruption leaves a majority of nodes and an edge', () => {
    const replicas = Object.fromEntries(
      byName.map(([name, { spec }]) => [name, (spec as Deployment['spec'])?.replicas]),
    )
    expect(replicas).toEqual(expect.objectContaining({ node: 3, edge: 2 }))
    const budgets = ofKind<PodDisruptionBudget>('PodDisruptionBudget')
    expect(budgets.map(({ spec }) => spec)).toEqual([
      expect.objectContaining({ minAvailable: 1 }),
      expect.objectContaining({ maxUnavailable: 1 }),
    ])
  })

  test('network policies let in HTTP at edges and metrics at nodes and edges, and let out what each part needs', () => {
    const allowed = (workload: Workload, direction: 'ingress' | 'egress') =>
      ofKind<NetworkPolicy>('NetworkPolicy')
        .filter(({ spec }) => selects(spec?.podSelector ?? {}, workload))
        .flatMap(({ spec }) =>
          (spec?.[direction] ?? []).flatMap(({ ports = [] }) => ports.map(({ port }) => String(port))),
        )
        .sort()
    const table = Object.fromEntries(
      byName.map(([name, workload]) => [name, [allowed(workload, 'ingress'), allowed(workload, 'egress')]]),
    )
    expect(table).toEqual({
      auditor: [['metrics'], ['53', '53', '5432']],
      migrate: [[], ['53', '53', '5432']],
      node: [['metrics'], ['4222', '53', '53', '5432']],
      edge: [
        ['http', 'metrics'],
        ['4222', '443', '53', '53', '5432'],
      ],
    })
    // A pod is closed in a direction if a policy for it has that type.
    const [first] = ofKind<NetworkPolicy>('NetworkPolicy').filter(({ metadata }) => metadata.name === 'ledger')
    expect(first?.spec?.policyTypes).toEqual(['Ingress', 'Egress'])
    expect(byName.filter(([, workload]) => !selects(first?.spec?.podSelector ?? {}, workload))).toEqual([])
  })
})
