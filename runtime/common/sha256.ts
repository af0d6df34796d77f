import { hash } from 'node:crypto'

/** 32 bytes. Half the time that Node.js takes for a Buffer as the output. */
export function sha256(bytes: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'binary')
}
