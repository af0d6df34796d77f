/** H2: pending requests get a response, and busy clients do not delay the stop. */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type HttpServer, listen } from '../../../infra/processes/http-server.ts'
import { freePort } from '../../support/processes/free-ports.ts'

/** Less than the time after which remaining connections are closed. */
const BEFORE_THE_CUT_MS = 9_500

const agents: Agent[] = []
afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy()
})

interface Gate {
  readonly passed: Promise<void>
  readonly open: () => void
}

function gate(): Gate {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}

async function serving(
  answer: () => Promise<Response> | Response,
): Promise<{ readonly server: HttpServer; readonly port: number }> {
  const port = await freePort()
  return { port, server: await listen({ fetch: async () => answer() }, '127.0.0.1', port, 'https://errors') }
}

/** One persistent connection. */
function oneConnection(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agents.push(agent)
  return agent
}

async function begin(port: number, agent: Agent): Promise<IncomingMessage> {
  const [response] = (await once(get({ host: '127.0.0.1', port, agent }), 'response')) as [IncomingMessage]
  return response
}

async function ask(port: number, agent: Agent): Promise<string | undefined> {
  const response = await begin(port, agent)
  response.resume()
  await once(response, 'end')
  return response.headers.connection
}

test(
  'the last response to a busy client announces the end of the connection',
  async () => {
    let arrived = gate()
    const { server, port } = await serving(() => {
      arrived.open()
      return new Response('here')
    })
    const agent = oneConnection()
    expect([await ask(port, agent), await ask(port, agent)]).toEqual(['keep-alive', 'keep-alive'])
    arrived = gate()
    const last = ask(port, agent)
    await arrived.passed
    const stopped = server.stop()
    expect(await last).toBe('close')
    await stopped
    await expect(ask(port, agent)).rejects.toThrow('ECONNREFUSED')
  },
  BEFORE_THE_CUT_MS,
)

test(
  'the stop waits for the reply to a pending request',
  async () => {
    const [arrived, answered] = [gate(), gate()]
    const { server, port } = await serving(async () => {
      arrived.open()
      await answered.passed
      return new Response('here')
    })
    const asked = ask(port, oneConnection())
    await arrived.passed
    let isStopped = false
    const stopped = server.stop().then(() => (isStopped = true))
    await new Promise(setImmediate)
    expect(isStopped).toBe(false)
    answered.open()
    expect(await asked).toBe('close')
    await stopped
  },
  BEFORE_THE_CUT_MS,
)

test(
  'a response that had begun is sent whole, and its connection then closes',
  async () => {
    const rest = gate()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('begun')),
      pull: async (controller) => {
        await rest.passed
        controller.enqueue(Buffer.from(' and ended'))
        controller.close()
      },
    })
    const { server, port } = await serving(() => new Response(body))
    const response = await begin(port, oneConnection())
    let text = ''
    response.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(response, 'data')
    const stopped = server.stop()
    rest.open()
    await once(response, 'end')
    expect([response.headers.connection, text]).toEqual(['keep-alive', 'begun and ended'])
    await stopped
  },
  BEFORE_THE_CUT_MS,
)
