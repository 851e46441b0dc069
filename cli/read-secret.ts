import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './failures';
import type { Surroundings } from './session';

const maxLength = 4_096;

/** A secret that is typed without being shown, or the first line of what is piped in. It is never an argument, which others see. */
export async function readSecret({ input, errors, signal }: Surroundings, prompt: string): Promise<string> {
  const isTerminal = input.isTTY === true;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silent, terminal: isTerminal });
  if (isTerminal) {
    errors.write(prompt);
  }
  try {
    // A pipe that ends without a line answers no question.
    const ended = once(lines, 'close').then(() => '');
    const secret = (await Promise.race([lines.question('', { signal }), ended])).trim();
    if (secret === '' || secret.length > maxLength) {
      throw new UsageError('No key was given.');
    }
    return secret;
  } finally {
    lines.close();
    if (isTerminal) {
      errors.write('\n');
    }
  }
}
