/** Commands of the exchanges of one group ID. */
import type { DueCommand } from '../define-actor.ts'
import type { ExchangeDeliveryMessage, ExchangeMessage, Stamp } from '../message.ts'

export type ExchangeCommand = ((ExchangeMessage | ExchangeDeliveryMessage) & Stamp) | DueCommand
