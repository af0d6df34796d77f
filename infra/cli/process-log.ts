import type { Log } from '../../runtime/ports/log.ts'
import type { Configuration } from '../config/configuration.ts'
import { createJsonLinesLog } from '../system/log-json-lines.ts'
import type { CommandIo } from './common/command.ts'

/** The log of a long-running part: JSON lines on standard output. */
export function processLog(configuration: Configuration, part: 'node' | 'edge' | 'auditor', io: CommandIo): Log {
  return createJsonLinesLog({
    level: configuration.logLevel,
    fields: { part, ...(configuration.nodeId === undefined ? {} : { id: configuration.nodeId }), pid: process.pid },
    write: io.out,
  })
}
