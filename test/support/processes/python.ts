/** Python as an independent implementation. Where it is missing, tests that need it are skipped, and a note says so. */
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Whether the code runs: 3.8 is the first version with modular inverses. */
function runs(code: string): boolean {
  return spawnSync('python3', ['-c', `import sys; assert sys.version_info >= (3, 8); ${code}`]).status === 0
}

export const hasPython = runs('')
export const hasRequests = runs('import requests')
export const hasCryptography = runs('import cryptography')

if (!hasPython) process.stderr.write('NOT TESTED: clients in Python. There is no python3 (3.8 or later) on the PATH.\n')
else {
  if (!hasRequests) process.stderr.write('NOT TESTED: requests. python3 cannot import it.\n')
  if (!hasCryptography) process.stderr.write('NOT TESTED: the Python client. python3 cannot import cryptography.\n')
}

/** Runs a script of `test/python` on `input`. Returns the JSON that it prints. */
export function runPython(script: string, input: unknown): Promise<unknown> {
  const path = fileURLToPath(new URL(`../../python/${script}`, import.meta.url))
  return new Promise((resolve, reject) => {
    const child = spawn('python3', ['-B', path], { stdio: ['pipe', 'pipe', 'inherit'] })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(output).toString()))
      else reject(new Error(`${script} ended with ${code}`))
    })
    child.stdin.end(JSON.stringify(input))
  })
}

/** Calls functions of `api/client/python/ledger_client.py`: the name, then the arguments. */
export async function callClient(...calls: readonly (readonly unknown[])[]): Promise<readonly unknown[]> {
  return (await runPython('calls.py', calls)) as readonly unknown[]
}
