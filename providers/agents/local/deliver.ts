import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Delivery, UndeliveredReason } from '../provider';

/** How long an agent's pipe may take for one line, in milliseconds. */
const deliveryMs = 5_000;

/**
 * Writes one line to an agent and says whether its pipe has taken it. Nothing is written behind input that the agent
 * leaves unread, so that what is reported as undelivered is not read later after all.
 */
export async function deliver(child: ChildProcess & { stdin: Writable }, line: string): Promise<Delivery> {
  const { stdin } = child;
  if (child.exitCode !== null || child.signalCode !== null) return undelivered('agent-ended');
  if (!stdin.writable) return undelivered('agent-input-closed');
  if (stdin.writableLength > 0) {
    const emptied = await written(child, '', 'agent-not-reading');
    if (!emptied.delivered) return emptied;
  }
  // What has been begun cannot be taken back: an agent that reads again hears it after all.
  return written(child, `${line}\n`, 'outcome-unknown');
}

const undelivered = (reason: UndeliveredReason): Delivery => ({ delivered: false, reason });

/** Resolves when the text, and all before it, has left for the pipe, or the agent has ended, or with `late`. */
function written(child: ChildProcess & { stdin: Writable }, text: string, late: UndeliveredReason): Promise<Delivery> {
  return new Promise((resolve) => {
    const settle = (delivery: Delivery): void => {
      clearTimeout(timer);
      child.off('exit', onExit);
      resolve(delivery);
    };
    const onExit = (): void => settle(undelivered('agent-ended'));
    const timer = setTimeout(() => settle(undelivered(late)), deliveryMs);
    child.once('exit', onExit);
    child.stdin.write(text, (error) => settle(error ? undelivered('agent-input-closed') : { delivered: true }));
  });
}
