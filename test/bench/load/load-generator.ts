/** The bench's side of the load generator's process. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type {
  LoadedAccounts,
  LoadOrder,
  LoadReply,
  LoadSignal,
  RunPlan,
  RunResult,
  Scenario,
  ShardByAccount,
} from './load-messages.ts'

export interface LoadGenerator {
  readonly pid: number
  /** `loaded`: the accounts exist already. */
  readonly setup: (origin: string, token: string, accounts: number, loaded?: LoadedAccounts) => Promise<void>
  readonly register: (connections: number) => Promise<RunResult>
  readonly locate: (shards: ShardByAccount) => Promise<void>
  readonly prepare: (scenario: Scenario, count: number) => Promise<void>
  readonly run: (plan: RunPlan) => Promise<RunResult>
  /** Ends the current run: sent requests are still answered. */
  readonly finish: () => void
  readonly stop: () => void
}

export function startLoadGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('load-process.js', import.meta.url)), {
    // Without the profiling options of the bench itself.
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ask = (order: LoadOrder): Promise<Exclude<LoadReply, { kind: 'failed' }>> =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        child.off('message', onMessage)
        child.off('exit', onExit)
      }
      const onMessage = (message: unknown): void => {
        settle()
        const reply = message as LoadReply
        if (reply.kind === 'failed') reject(new Error(`the load generator failed: ${reply.message}`))
        else resolve(reply)
      }
      const onExit = (): void => {
        settle()
        reject(new Error('the load generator has ended'))
      }
      child.on('message', onMessage)
      child.on('exit', onExit)
      child.send(order, (error) => {
        if (error === null) return
        settle()
        reject(error)
      })
    })
  const askRun = async (order: LoadOrder): Promise<RunResult> => {
    const reply = await ask(order)
    if (reply.kind !== 'ran') throw new Error('the load generator did not run')
    return reply.result
  }
  const { pid } = child
  if (pid === undefined) throw new Error('the load generator could not be started')
  return {
    pid,
    setup: async (origin, token, accounts, loaded) =>
      void (await ask({ kind: 'setup', origin, token, accounts, loaded: loaded ?? null })),
    register: (connections) => askRun({ kind: 'register', connections }),
    locate: async (shards) => void (await ask({ kind: 'locate', shards })),
    prepare: async (scenario, count) => void (await ask({ kind: 'prepare', scenario, count })),
    run: (plan) => askRun({ kind: 'run', plan }),
    // The process may have ended already.
    finish: () => void child.send({ kind: 'finish' } satisfies LoadSignal, () => undefined),
    stop: () => void child.kill('SIGKILL'),
  }
}
