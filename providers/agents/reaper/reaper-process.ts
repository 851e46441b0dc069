/** The process behind `AgentReaper`: waits for the end of its input, and then ends what is still guarded. */
import { createInterface } from 'node:readline';
import { compact } from '../../../platform/json/compact';
import type { ProcessIdentity, ProcessMarker } from '../../../platform/processes/identity';
import { reap } from './reap';

export type ReaperMessage = { guard: ProcessMarker; identity?: ProcessIdentity } | { release: ProcessMarker };

// The process that started it decides when it ends: a signal to a whole group must not come before that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => undefined);
}

const keyOf = ({ name, value }: ProcessMarker): string => `${name}=${value}`;
const guarded = new Map<string, { marker: ProcessMarker; identity?: ProcessIdentity }>();

/** A process that is killed in the middle of a line has not started that agent. */
function parse(line: string): ReaperMessage | undefined {
  try {
    return JSON.parse(line) as ReaperMessage;
  } catch {
    return undefined;
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = parse(line);
    if (!message) {
      return;
    }
    if ('release' in message) {
      guarded.delete(keyOf(message.release));
    } else {
      const { guard: marker, identity } = message;
      guarded.set(keyOf(marker), { marker, ...compact({ identity }) });
    }
  })
  .on('close', () => void reap([...guarded.values()]).finally(() => process.exit(0)));
