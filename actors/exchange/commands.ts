/** Commands of the exchanges of one group ID. */
import type { DueCommand, Heard } from '../define-actor.ts'
import type { ExchangeDeliveryMessage, ExchangeMessage } from '../message.ts'

export type ExchangeCommand = Heard<ExchangeMessage> | Heard<ExchangeDeliveryMessage> | DueCommand
