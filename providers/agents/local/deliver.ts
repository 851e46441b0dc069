import type { Writable } from 'node:stream';
import type { Delivery, UndeliveredReason } from '../provider';

/** How long an agent's pipe may take for one line, in milliseconds. */
const deliveryMs = 5_000;

/** A running agent, as far as something is handed to it. */
export interface Recipient {
  stdin: Writable;
  /** Aborted when it has ended. */
  ended: AbortSignal;
}

/**
 * Writes one line to an agent and reports whether its pipe has accepted it. Nothing is written behind input that the agent
 * leaves unread, so that what is reported as undelivered is not read later after all.
 */
export async function deliver(agent: Recipient, line: string): Promise<Delivery> {
  const { stdin, ended } = agent;
  if (ended.aborted) {
    return undelivered('agent-ended');
  }
  if (!stdin.writable) {
    return undelivered('agent-input-closed');
  }
  if (stdin.writableLength > 0) {
    const emptied = await written(agent, '', 'agent-not-reading');
    if (!emptied.delivered) {
      return emptied;
    }
  }
  // What has been begun cannot be taken back: an agent that reads again receives it after all.
  return written(agent, `${line}\n`, 'outcome-unknown');
}

const undelivered = (reason: UndeliveredReason): Delivery => ({ delivered: false, reason });

/** Resolves when the text, and all before it, has left for the pipe, or the agent has ended, or with `late`. */
function written({ stdin, ended }: Recipient, text: string, late: UndeliveredReason): Promise<Delivery> {
  return new Promise((resolve) => {
    const settle = (delivery: Delivery): void => {
      clearTimeout(timer);
      ended.removeEventListener('abort', onEnd);
      resolve(delivery);
    };
    const onEnd = (): void => settle(undelivered('agent-ended'));
    const timer = setTimeout(() => settle(undelivered(late)), deliveryMs);
    ended.addEventListener('abort', onEnd);
    stdin.write(text, (error) => {
      if (!error) {
        return settle({ delivered: true });
      }
      // We have closed it ourselves, which proves nothing about what the agent has read.
      const ours = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_DESTROYED';
      settle(undelivered(ours ? late : 'agent-input-closed'));
    });
  });
}
