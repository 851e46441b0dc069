import { createInterface } from 'node:readline';

/** Prints one event: a JSON object with a `type`, on a line of its own. */
export function say(type, fields) {
  process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`);
}

/**
 * Listens to what Runboard sends on standard input: the task first, commands later.
 *
 * @returns `task`, a promise of the transport document; and `interrupted`, a signal that aborts on SIGTERM and on
 *   `{"type":"interrupt"}`
 */
export function listen() {
  const stop = new AbortController();
  const lines = createInterface({ input: process.stdin });
  const task = new Promise((resolve, reject) => {
    let first = true;
    lines.on('line', (line) => {
      const document = parse(line);
      if (first) {
        first = false;
        if (document) {
          resolve(document);
        } else {
          reject(new Error('The first line on standard input is not a JSON object.'));
        }
      } else if (document?.type === 'interrupt') {
        stop.abort('interrupted by the operator');
      } else if (document?.type === 'message' || document?.type === 'steer') {
        say('message', { text: `I heard you, but I only know my list: ${document.message}` });
      }
    });
    lines.on('close', () => reject(new Error('Standard input ended before the task came.')));
  });
  process.once('SIGTERM', () => stop.abort('stopped by SIGTERM'));
  return { task, interrupted: stop.signal, close: () => lines.close() };
}

function parse(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
