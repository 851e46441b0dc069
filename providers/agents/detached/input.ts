import { constants, open } from 'node:fs';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { markTorn, type Spool, unmarkTorn } from './spool';

/** A pipe takes this much at once or not at all (`PIPE_BUF`): of a longer line a part may be in it when a worker dies. */
const atomicBytes = 4_096;

/**
 * Opens the input of a detached agent for writing. While a line is written that could be torn, a mark lies in the spool: an
 * agent with that mark has read an unknown part of that line.
 *
 * @param marked whether the mark is there already, for the first line
 * @returns `undefined` when no process has the input open for reading
 */
export async function openInput(spool: Spool, marked: boolean): Promise<Writable | undefined> {
  const socket = await connect(spool.in);
  if (!socket) {
    return undefined;
  }
  let isMarked = marked;
  const input = new Writable({
    write(chunk: Buffer, _, done) {
      // A failure thrown here may be uncaught: the stream calls this also by itself.
      if (!isMarked && chunk.length > atomicBytes) {
        const failure = failureOf(() => markTorn(spool));
        if (failure) {
          done(failure);
          return;
        }
        isMarked = true;
      }
      socket.write(chunk, (error) => {
        const settled = !error || (error as NodeJS.ErrnoException).code === 'EPIPE';
        // A mark that stays costs the next worker the agent; it is tried again with the next line.
        if (isMarked && settled && chunk.length > 0) {
          isMarked = failureOf(() => unmarkTorn(spool)) !== undefined;
        }
        done(error);
      });
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  // The agent may close its input or end before it has read everything (EPIPE): its own business.
  input.on('error', () => undefined);
  socket.on('error', (error) => input.destroy(error));
  return input;
}

function failureOf(act: () => void): Error | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** Never waits for a reader: an agent that has closed its input will not open it again. */
async function connect(path: string): Promise<Socket | undefined> {
  try {
    const fd = await promisify(open)(path, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: false, writable: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENXIO' || code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
